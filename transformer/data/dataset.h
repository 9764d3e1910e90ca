#pragma once

// Everything that a run reads, opened in one call.

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "transformer/config.h"
#include "transformer/data/parallel_text.h"
#include "transformer/data/prepare.h"
#include "transformer/data/tokenizer.h"

namespace transformer {

struct Vocabularies {
  Tokenizer source;
  Tokenizer target;  // the same where data.source_vocabulary is empty
};

// The vocabularies of the config. One that is missing is learned from data.train with model.V
// pieces (model.source_V for the source's own), once, whoever asks first. Throws UserError where a
// missing one has no size to be learned with, where an existing one has another size than the
// config states, and where model.tie_embeddings needs one vocabulary and there are two. Throws
// Stopped (stopped.h) where `stop` asks for it; a vocabulary that is being learned is finished
// first.
Vocabularies open_vocabularies(const Config& config, const std::atomic<bool>* stop = nullptr);

// How the config's vocabularies are learned: the target's or shared one first. Throws UserError as
// above.
std::vector<VocabularyOptions> vocabularies_of(const Config& config);

// A set to evaluate on: as pieces, and as the lines that BLEU is counted on. Pair i is line i.
struct EvaluationSet {
  Corpus corpus;
  ParallelText text;
  ParallelFiles files;
};
EvaluationSet open_evaluation(const std::string& prefix, const DataConfig& data,
                              const Vocabularies& vocabularies,
                              const std::atomic<bool>* stop = nullptr);

struct Dataset {
  Vocabularies vocabularies;
  Prepared train;
  EvaluationSet valid;
};
// Messages are for the user: what is made on the way and takes its time, and how many pairs were
// dropped by which rule. None where `stop` ended it early; no file is left half-written then.
std::optional<Dataset> open_dataset(const Config& config,
                                    const std::function<void(const std::string&)>& say = {},
                                    const std::atomic<bool>* stop = nullptr);

}  // namespace transformer
