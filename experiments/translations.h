#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace transformer {

// What a run's model made of data.valid, and what it should have: RUN/valid.translations and
// RUN/valid.references, as many lines each, for tests that need sentences and not their mean.
struct Translations {
  std::vector<std::string> hypotheses;
  std::vector<std::string> references;
};

// Throws Failure.
void write_translations(const std::filesystem::path& run, const Translations& translations);

// Empty where the run has kept none. Throws UserError where they cannot be read.
std::optional<Translations> read_translations(const std::filesystem::path& run);

}  // namespace transformer
