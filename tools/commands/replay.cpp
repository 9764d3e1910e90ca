#include "tools/commands/replay.h"

#include <torch/torch.h>

#include <iostream>
#include <optional>

#include "transformer/data/tokenizer.h"
#include "transformer/decode/load.h"
#include "transformer/diverged.h"
#include "transformer/printable.h"
#include "transformer/train/non_finite.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

// The copies beside the dump, where they are those that the model was trained with.
std::optional<Vocabularies> vocabularies_beside(const fs::path& file, const StepDump& dump) {
  const bool shared = dump.config.data.source_vocabulary.empty();
  const fs::path target = file.parent_path() / kKeptVocabulary;
  const fs::path source = shared ? target : file.parent_path() / kKeptSourceVocabulary;
  if (!fs::exists(target) || !fs::exists(source)) return std::nullopt;
  Vocabularies found{Tokenizer(source), Tokenizer(target)};
  const auto& model = dump.config.model;
  if (vocabulary_fingerprint(found) != dump.vocabulary || found.source.size() != model.source_V ||
      found.target.size() != model.V) {
    return std::nullopt;
  }
  return found;
}

std::string sentence_text(const Tokenizer& vocabulary, const std::vector<int32_t>& pieces,
                          int64_t sentence, int64_t length) {
  const auto begin = pieces.begin() + sentence * length;
  return printable(vocabulary.decode({begin, begin + length}), 200);
}

void print_sentences(const Batch& batch, const std::optional<Vocabularies>& vocabularies) {
  constexpr int64_t kShown = 10;
  for (int64_t i = 0; i < std::min(kShown, batch.sentences); ++i) {
    std::cout << "  pair " << batch.rows[static_cast<size_t>(i)];
    if (vocabularies) {
      std::cout << ": " << sentence_text(vocabularies->source, batch.source, i, batch.source_length)
                << " ||| "
                << sentence_text(vocabularies->target, batch.target_output, i, batch.target_length);
    }
    std::cout << "\n";
  }
  if (batch.sentences > kShown) std::cout << "  and " << batch.sentences - kShown << " more\n";
}

}  // namespace

int replay_step(const StepDump& dump, const fs::path& file, const torch::Device& device) {
  Transformer model = model_with(dump.config.model, dump.model, file);
  model->to(device);
  model->train();
  const auto vocabularies = vocabularies_beside(file, dump);
  std::cout << "step " << dump.step << ", " << dump.batches.size() << " batch"
            << (dump.batches.size() == 1 ? "" : "es") << "\n";
  for (const auto& batch : dump.batches) print_sentences(batch, vocabularies);
  const auto found = first_non_finite(model, dump.batches, nullptr, dump.config.training, dump.step,
                                      device, dump.share);
  const std::string finding = found ? found->text() : "none";
  std::cout << "first tensor that is not finite: " << finding << "\n";
  if (finding == dump.finding) return kExitDiverged;
  throw Failure(file.string() + ": says " + printable(dump.finding, 200) +
                "; run again here it is " + finding +
                " (the same only with the same device and threads)");
}

}  // namespace transformer
