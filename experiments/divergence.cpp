#include "experiments/divergence.h"

#include "experiments/record.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/sealed_json.h"
#include "transformer/train/same_training.h"
#include "transformer/version.h"

namespace transformer {
namespace fs = std::filesystem;

fs::path divergence_file(const fs::path& run) { return run / "divergence.json"; }

void write_divergence(const fs::path& run, const Config& config, int64_t step,
                      const std::string& message) {
  Json json = {{"schema_version", kSchemaVersion}};
  json.update(
      to_json(Divergence{step, message, kVersion, kCommit, this_machine(), to_json(config)}));
  write_sealed(divergence_file(run), json);
}

std::optional<Divergence> read_divergence(const fs::path& run) {
  const fs::path file = divergence_file(run);
  if (!fs::exists(file)) return std::nullopt;
  try {
    Json json = read_sealed(file);
    json.erase("schema_version");
    return from_json<Divergence>(json, file.string());
  } catch (const UserError&) {
    return std::nullopt;
  }
}

std::optional<Divergence> standing_divergence(const fs::path& run, const Config& config) {
  const fs::path file = divergence_file(run);
  if (!fs::exists(file)) return std::nullopt;
  auto divergence = read_divergence(run);
  if (divergence) {
    const auto kept = resolve(from_json<Config>(divergence->config, file.string()), file.string());
    if (!why_not_go_on(kept, config)) return divergence;
  }
  fs::remove(file);
  sync_folder(run);
  return std::nullopt;
}

}  // namespace transformer
