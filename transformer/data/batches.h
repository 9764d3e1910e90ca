#pragma once

// Batches by count of tokens: sentences of like length together, the seed alone deciding the order.

#include <cstdint>
#include <memory>
#include <vector>

#include "transformer/data/corpus.h"

namespace transformer {

struct Batch {
  int64_t sentences = 0;
  int64_t source_length = 0;
  int64_t target_length = 0;
  std::vector<int32_t> source;  // [sentences, source_length], end-of-sentence last, then padding
  std::vector<int32_t> target_input;   // [sentences, target_length], begin-of-sentence first
  std::vector<int32_t> target_output;  // [sentences, target_length], end-of-sentence last
  int64_t source_tokens = 0;           // real ones, end-of-sentence included
  int64_t target_tokens = 0;
  int64_t chosen_tokens = 0;  // of the target's, as many as a masked-token task chooses (task.h)
  std::vector<int64_t> rows;  // which pairs of the corpus
};

// The rows of each batch of one epoch: every pair once. In a batch, sentences × the longest source
// and sentences × the longest target are at most tokens_per_batch. Lengths are alike within a
// batch, partners and order of the batches are drawn by (seed, epoch) alone. Throws UserError
// naming a pair that is longer than tokens_per_batch.
std::vector<std::vector<int64_t>> plan_epoch(const Corpus& corpus, int64_t tokens_per_batch,
                                             int64_t seed, int64_t epoch);

// The same budget without chance, from short to long; a pair longer than tokens_per_batch stands
// alone.
std::vector<std::vector<int64_t>> plan_evaluation(const Corpus& corpus, int64_t tokens_per_batch);

Batch make_batch(const Corpus& corpus, const std::vector<int64_t>& rows);

// The same without its word-pieces: little memory, where many batches are known before the first is
// needed.
Batch outline_of(const Corpus& corpus, const std::vector<int64_t>& rows);
enum class Contents { whole, outline };

// Where in the data a run is; part of a checkpoint.
struct Position {
  int64_t epoch = 0;
  int64_t batch = 0;  // within the epoch

  static void visit(auto& self, auto&& field) {
    field("epoch", self.epoch);
    field("batch", self.batch);
  }
  friend bool operator==(const Position&, const Position&) = default;
};

// Epoch after epoch of batches, prepared ahead on another thread. One that starts at position() of
// another goes on exactly as that one would.
class BatchStream {
 public:
  // Throws UserError as plan_epoch does, and where `start` lies behind the end of its epoch.
  BatchStream(const Corpus& corpus, int64_t tokens_per_batch, int64_t seed, Position start,
              Contents contents = Contents::whole);
  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  Batch next();               // throws what went wrong in the thread
  Position position() const;  // of the batch that next() will return
  int64_t batches() const;    // in the epoch of that batch

 private:
  class Producer;
  std::unique_ptr<Producer> producer_;
  Position position_;
  int64_t batches_ = 0;
};

}  // namespace transformer
