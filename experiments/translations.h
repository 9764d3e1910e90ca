#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace transformer {

// What a run's model made of data.valid, and what it should have: RUN/valid.translations and
// RUN/valid.references, as many lines each, for tests that need sentences and not their mean; and
// in RUN/valid.checksums the fingerprints of both.
struct Translations {
  std::vector<std::string> hypotheses;
  std::vector<std::string> references;
};

// `model`: the checksum of the run's model.safetensors, which made them. Throws Failure.
void write_translations(const std::filesystem::path& run, const Translations& translations,
                        const std::string& model = "");

// The same of a run whose model does not translate: its checksum alone.
void write_model_checksum(const std::filesystem::path& run, const std::string& model);

// The checksum of the model that made the run's figures; empty where none is known.
std::string model_of_figures(const std::filesystem::path& run);

// What is wrong with them, in words. Nothing where there are none, or are of an earlier version,
// whose runs have no checksums: not in metrics.jsonl either.
std::vector<std::string> damage_of_translations(const std::filesystem::path& run);

// Empty where the run has kept none. Throws UserError where they cannot be read, and Damaged where
// they are not what their fingerprints say.
std::optional<Translations> read_translations(const std::filesystem::path& run);

}  // namespace transformer
