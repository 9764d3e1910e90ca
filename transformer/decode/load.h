#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "transformer/data/dataset.h"
#include "transformer/decode/translate.h"
#include "transformer/train/state.h"

namespace transformer {

// Under these names a run's folder keeps copies of its vocabularies.
constexpr auto kKeptVocabulary = "vocabulary.model";
constexpr auto kKeptSourceVocabulary = "source_vocabulary.model";

// One fingerprint of both vocabularies of a model, kept in its file.
std::string vocabulary_fingerprint(const Vocabularies& vocabularies);

// The model of a file with its weights. Throws UserError where they do not fit, and before it is
// built where its config asks for far more than the file has: a few bytes could ask for any memory.
Transformer model_with(const ModelConfig& config, const State& weights,
                       const std::filesystem::path& file);

struct LoadedModel {
  Config config;  // the model's own, with the overrides
  Translator translator;
};

// A model ready to translate, from a .safetensors file, a checkpoint's or a run's folder. Its
// config comes with it; `overrides` may change decoding.* and data.*, but not the model. The
// vocabulary must be the one it was trained with: where the config's is gone or another by now, and
// no override names one, the copy in the run's folder is. Throws UserError.
LoadedModel load_model(const std::filesystem::path& path, const std::vector<std::string>& overrides,
                       const torch::Device& device);

}  // namespace transformer
