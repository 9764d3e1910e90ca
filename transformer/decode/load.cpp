#include "transformer/decode/load.h"

#include <torch/torch.h>

#include "transformer/error.h"
#include "transformer/fingerprint.h"
#include "transformer/train/checkpoint.h"

namespace transformer {

std::string vocabulary_fingerprint(const Vocabularies& vocabularies) {
  return fingerprint(vocabularies.source.fingerprint() + vocabularies.target.fingerprint());
}

LoadedModel load_model(const std::filesystem::path& path, const std::vector<std::string>& overrides,
                       const torch::Device& device) {
  const Model model = read_model(path);
  Config config = model.config;
  override_config(config, overrides);
  config = resolve(config, "overrides");
  if (const auto key = first_difference(model.config.model, config.model)) {
    throw UserError("model." + *key + ": " + path.string() +
                    " holds a trained model; only decoding.* and data.* can be changed");
  }
  for (const auto& vocabulary : {config.data.vocabulary, config.data.source_vocabulary}) {
    if (vocabulary.empty() || std::filesystem::exists(vocabulary)) continue;
    throw UserError(vocabulary + ": the vocabulary of " + path.string() +
                    " is not there; name its place with data.vocabulary=FILE");
  }
  const Vocabularies vocabularies = open_vocabularies(config);
  if (!model.vocabulary.empty() && model.vocabulary != vocabulary_fingerprint(vocabularies)) {
    throw UserError(config.data.vocabulary + ": is not the vocabulary that " + path.string() +
                    " was trained with; name that one with data.vocabulary=FILE");
  }
  Translator translator{Transformer(config.model), vocabularies.source, vocabularies.target,
                        config.decoding, device};
  State weights = state_of(*translator.model);
  assign(model.state, weights, path.string());
  translator.model->to(device);
  translator.model->eval();
  return {std::move(config), std::move(translator)};
}

}  // namespace transformer
