#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "transformer/data/dataset.h"
#include "transformer/decode/translate.h"

namespace transformer {

// One fingerprint of both vocabularies of a model, kept in its file.
std::string vocabulary_fingerprint(const Vocabularies& vocabularies);

struct LoadedModel {
  Config config;  // the model's own, with the overrides
  Translator translator;
};

// A model ready to translate, from a .safetensors file, a checkpoint's or a run's folder. Its
// config comes with it; `overrides` may change decoding.* and data.*, but not the model. The
// vocabulary must be the one it was trained with. Throws UserError.
LoadedModel load_model(const std::filesystem::path& path, const std::vector<std::string>& overrides,
                       const torch::Device& device);

}  // namespace transformer
