#include "transformer/decode/load.h"

#include <torch/torch.h>

#include <algorithm>

#include "transformer/analysis/parameters.h"
#include "transformer/error.h"
#include "transformer/fingerprint.h"
#include "transformer/train/checkpoint.h"

namespace transformer {
namespace fs = std::filesystem;

std::string vocabulary_fingerprint(const Vocabularies& vocabularies) {
  return fingerprint(vocabularies.source.fingerprint() + vocabularies.target.fingerprint());
}

namespace {

bool exist(const DataConfig& data) {
  const auto exists = [](const std::string& file) { return file.empty() || fs::exists(file); };
  return exists(data.vocabulary) && exists(data.source_vocabulary);
}

// Throws UserError unless they are there and the ones that the model was trained with.
Vocabularies open_matching(const Config& config, const std::string& fingerprint,
                           const fs::path& model) {
  for (const auto& file : {config.data.vocabulary, config.data.source_vocabulary}) {
    if (file.empty() || fs::exists(file)) continue;
    throw UserError(file + ": the vocabulary of " + model.string() +
                    " is not there; name its place with data.vocabulary=FILE");
  }
  Vocabularies vocabularies = open_vocabularies(config);
  if (!fingerprint.empty() && fingerprint != vocabulary_fingerprint(vocabularies)) {
    throw UserError(config.data.vocabulary + ": is not the vocabulary that " + model.string() +
                    " was trained with; name that one with data.vocabulary=FILE");
  }
  return vocabularies;
}

std::string fingerprint_of(const DataConfig& data) {
  const Tokenizer target(data.vocabulary);
  if (data.source_vocabulary.empty()) return vocabulary_fingerprint({target, target});
  return vocabulary_fingerprint({Tokenizer(data.source_vocabulary), target});
}

// Turns to the copies in the run's folder unless the config's own files are still what they were.
void use_kept_vocabularies(DataConfig& data, const std::string& fingerprint,
                           const fs::path& model) {
  if (fingerprint.empty()) return;
  try {
    if (exist(data) && fingerprint_of(data) == fingerprint) return;
  } catch (const UserError&) {  // another file by now
  }
  // `model` is the run's folder, a file in it, or a checkpoint's folder or file.
  fs::path folder = fs::absolute(model).lexically_normal();
  for (int i = 0; i < 4; ++i, folder = folder.parent_path()) {
    DataConfig kept = data;
    kept.vocabulary = (folder / kKeptVocabulary).string();
    if (!data.source_vocabulary.empty()) {
      kept.source_vocabulary = (folder / kKeptSourceVocabulary).string();
    }
    if (!exist(kept) || fingerprint_of(kept) != fingerprint) continue;
    data = kept;
    return;
  }
}

void expect_finite(const State& state, const fs::path& file) {
  for (const auto& [name, tensor] : state) {
    if (!tensor.is_floating_point() || torch::isfinite(tensor).all().item<bool>()) continue;
    throw UserError(file.string() + ": " + fields::shown_name(name) +
                    ": has values that are not finite; the model has diverged");
  }
}

}  // namespace

Transformer model_with(const ModelConfig& config, const State& weights, const fs::path& file) {
  constexpr int64_t kMissing = 1 << 20;  // so many may be: assign says which
  const int64_t wanted = count_parameters(config).total();
  int64_t there = 0;
  for (const auto& [name, tensor] : weights) there += tensor.numel();
  if (wanted / 2 > there + kMissing) {
    throw UserError(file.string() + ": does not fit the model: its config asks for " +
                    std::to_string(wanted) + " parameters; it has " + std::to_string(there));
  }
  Transformer model(config);
  State own = state_of(*model);
  assign(weights, own, file.string());
  return model;
}

LoadedModel load_model(const std::filesystem::path& path, const std::vector<std::string>& overrides,
                       const torch::Device& device) {
  const Model model = read_model(path);
  expect_finite(model.state, path);
  Config config = model.config;
  override_config(config, overrides);
  config = resolve(config, kCommandLine);
  if (const auto different = differences(model.config.model, config.model); !different.empty()) {
    throw UserError("model." + both_values(different.front()) + ": " + path.string() +
                    " holds a trained model; only decoding.* and data.* can be changed");
  }
  const bool is_named = std::ranges::any_of(overrides, [](const std::string& text) {
    return text.starts_with("data.vocabulary=") || text.starts_with("data.source_vocabulary=");
  });
  if (!is_named) use_kept_vocabularies(config.data, model.vocabulary, path);
  const Vocabularies vocabularies = open_matching(config, model.vocabulary, path);
  Translator translator{model_with(config.model, model.state, path), vocabularies.source,
                        vocabularies.target, config.decoding, device};
  translator.model->to(device);
  translator.model->eval();
  return {std::move(config), std::move(translator)};
}

}  // namespace transformer
