#pragma once

#include <torch/types.h>

#include <atomic>

#include "transformer/data/corpus.h"
#include "transformer/nn/model.h"

namespace transformer {

struct Perplexity {
  double nll = 0;        // summed negative natural-log likelihood of the word-pieces predicted
  int64_t tokens = 0;    // those: the target's, end-of-sentence included, or the masked ones
  double value() const;  // exp(nll / tokens)
};

// Per word-piece that the model's family predicts (data/task.h), without label smoothing and
// without dropout: of all the target's, end-of-sentence included, or, where it is encoder_only, of
// those chosen by masks that the data alone decides, the same for every model. The model
// is left in the mode it was in. Draws no random number. Once `stop` is true it ends with the batch
// under way; what it returns is then of no use. Of a model that has diverged it is not finite.
// With `ranks` above 1 it is the sum over every so many-th batch, the one of number `rank` first.
Perplexity perplexity(Transformer& model, const Corpus& corpus, int64_t tokens_per_batch,
                      const torch::Device& device, const std::atomic<bool>* stop = nullptr,
                      int64_t rank = 0, int64_t ranks = 1);

}  // namespace transformer
