#include "experiments/divergence.h"
#include "experiments/translations.h"
#include "tests/fuzz/targets.h"
#include "transformer/sealed_json.h"

namespace transformer::fuzz {

void run(const std::string& bytes) {
  const auto folder = file_with("valid.translations", "a\nb\n").parent_path();
  file_with("valid.references", "c\nd\n");
  const auto checksums = file_with("valid.checksums", bytes);
  const auto divergence = file_with("divergence.json", bytes);
  damage_of_translations(folder);
  standing_divergence(folder, resolve(Config()));
  const Json object = object_in(bytes);
  write_sealed(checksums, object);
  model_of_figures(folder);
  write_sealed(divergence, object);
  if (read_divergence(folder)) {
    standing_divergence(folder, resolve(Config()));
  } else {
    promise(read_translations(folder).has_value(), "sentences that are there are read");
  }
}

}  // namespace transformer::fuzz
