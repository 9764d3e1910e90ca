#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "experiments/machine.h"
#include "transformer/config.h"
#include "transformer/json.h"

namespace transformer {

// RUN/divergence.json: a loss or gradient of the run was not finite. Training again would only
// repeat it, so the run is done.
struct Divergence {
  int64_t step = 0;  // that was not applied
  std::string message;
  std::string version;
  std::string commit;
  Machine machine;
  Json config;  // as the run was given it

  static void visit(auto& self, auto&& field) {
    field("step", self.step);
    field("message", self.message);
    field("version", self.version);
    field("commit", self.commit);
    field("machine", self.machine);
    field("config", self.config);
  }
};

std::filesystem::path divergence_file(const std::filesystem::path& run);

// Throws Failure.
void write_divergence(const std::filesystem::path& run, const Config& config, int64_t step,
                      const std::string& message);

// Empty where there is none; and where it is damaged: the run is not done then.
std::optional<Divergence> read_divergence(const std::filesystem::path& run);

// The one that training with this config would repeat; another is removed. Throws Failure.
std::optional<Divergence> standing_divergence(const std::filesystem::path& run,
                                              const Config& config);

}  // namespace transformer
