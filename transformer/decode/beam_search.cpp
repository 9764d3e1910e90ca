#include "transformer/decode/beam_search.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "transformer/analysis/flops.h"
#include "transformer/analysis/training_memory.h"
#include "transformer/available_memory.h"
#include "transformer/data/tokenizer.h"
#include "transformer/error.h"
#include "transformer/train/batch_tensors.h"

namespace transformer {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// A hypothesis that goes on with one more piece, or ends.
struct Continuation {
  int64_t from;  // which of the sentence's unfinished hypotheses
  int32_t piece;
  double log_probability;
};

// The best pieces of each row, best first. [rows, width]
struct BestPieces {
  torch::Tensor pieces;             // int64, on the CPU
  torch::Tensor log_probabilities;  // double, on the CPU
  torch::Tensor ends;               // [rows], double: the log-probability of ending
};

constexpr uint64_t kNeverWritten = 1 << kPad | 1 << kBos | 1 << kEos;

void check_finite(const torch::Tensor& normalizers) {
  if (!normalizers.isfinite().all().item<bool>()) {
    throw Failure("beam search: the model's output is not finite");
  }
}

// Without the logits that are not among the best.
BestPieces best_pieces(const PanelMatrix& output, const torch::Tensor& hidden,
                       const torch::Tensor& weight, int64_t width) {
  const auto best = output.best(hidden, std::min(width, weight.size(0)), kNeverWritten);
  check_finite(best.normalizers);
  return {best.columns, best.values.to(torch::kDouble) - best.normalizers.unsqueeze(1),
          hidden.mv(weight[kEos]).to(torch::kDouble) - best.normalizers};
}

BestPieces best_pieces(const torch::Tensor& logits, int64_t width) {
  const auto normalizer = logits.logsumexp(1, /*keepdim=*/true).to(torch::kDouble);
  check_finite(normalizer);
  const auto log_probability = [&](const torch::Tensor& logit) {
    return (logit.to(torch::kDouble) - normalizer).cpu().contiguous();
  };
  const auto ends = log_probability(logits.narrow(1, kEos, 1));
  for (const int64_t never : {kPad, kBos, kEos}) logits.select(1, never).fill_(kNever);
  const auto [values, pieces] = logits.topk(std::min(width, logits.size(1)), 1);
  return {pieces.cpu().contiguous(), log_probability(values), ends};
}

BestPieces best_pieces(Transformer& model, const torch::Tensor& hidden, int64_t width) {
  const auto weight = model->output_weight();
  if (const auto* panels = model->panel_output()) {
    return best_pieces(*panels, hidden, weight, width);
  }
  return best_pieces(hidden.matmul(weight.t()), width);
}

// One sentence's search: plain bookkeeping, no tensors.
class Search {
 public:
  struct Unfinished {
    std::vector<int32_t> pieces;
    double log_probability = 0.0;
    int64_t from = 0;   // which of the previous step's it continues
    int64_t node = -1;  // in the history
  };

  Search(int64_t source_pieces, const ModelConfig& model, const DecodingConfig& decoding,
         const SearchOptions& options)
      : decoding_(decoding),
        history_(options.history),
        fewest_pieces_(options.pieces.value_or(0)),
        most_pieces_(options.pieces.value_or(source_pieces + decoding.max_extra_length)) {
    if (model.positions == PositionKind::learned) {
      most_pieces_ = std::min(most_pieces_, model.max_positions - 1);
    }
  }

  // Takes what may follow each unfinished hypothesis: row `first` + i of `best` is for the i-th.
  void advance(const BestPieces& best, int64_t first) {
    const auto continuations = best_continuations(best, first);
    const auto beam = static_cast<size_t>(decoding_.beam);
    std::vector<Unfinished> next;
    for (size_t rank = 0; rank < continuations.size() && next.size() < beam; ++rank) {
      const auto& [from, piece, log_probability] = continuations[rank];
      const auto& hypothesis = unfinished_[static_cast<size_t>(from)];
      if (piece == kEos) {
        if (rank >= beam) continue;
        finish(hypothesis.pieces, log_probability);
        noted(hypothesis.node, piece, log_probability);
      } else {
        const int64_t node = noted(hypothesis.node, piece, log_probability);
        next.push_back({hypothesis.pieces, log_probability, from, node});
        next.back().pieces.push_back(piece);
      }
    }
    unfinished_ = std::move(next);
    if (is_greedy_and_done() || cannot_improve()) unfinished_.clear();
  }

  // Best first; none when the search has ended.
  const std::vector<Unfinished>& unfinished() const { return unfinished_; }
  std::vector<Hypothesis> finished() && { return std::move(finished_); }

 private:
  std::vector<Continuation> best_continuations(const BestPieces& best, int64_t first) const {
    const int64_t width = best.pieces.size(1);
    const auto best_pieces = best.pieces.const_data_ptr<int64_t>() + first * width;
    const auto log_probabilities = best.log_probabilities.const_data_ptr<double>() + first * width;
    const auto ends = best.ends.const_data_ptr<double>() + first;
    std::vector<Continuation> found;
    for (int64_t from = 0; from < static_cast<int64_t>(unfinished_.size()); ++from) {
      const auto& hypothesis = unfinished_[static_cast<size_t>(from)];
      const auto pieces = std::ssize(hypothesis.pieces);
      if (pieces >= fewest_pieces_) {
        found.push_back({from, kEos, hypothesis.log_probability + ends[from]});
      }
      if (pieces == most_pieces_) continue;
      for (int64_t i = from * width; i < (from + 1) * width && log_probabilities[i] > kNever; ++i) {
        found.push_back({from, static_cast<int32_t>(best_pieces[i]),
                         hypothesis.log_probability + log_probabilities[i]});
      }
    }
    std::sort(found.begin(), found.end(), [](const Continuation& a, const Continuation& b) {
      return std::tuple(-a.log_probability, a.from, a.piece) <
             std::tuple(-b.log_probability, b.from, b.piece);
    });
    return found;
  }

  // Returns the node; -1 where nobody asks for a history.
  int64_t noted(int64_t parent, int32_t piece, double log_probability) {
    if (history_ == nullptr) return -1;
    history_->push_back({parent, piece, log_probability});
    return std::ssize(*history_) - 1;
  }

  // Keeps the best `beam`, best first.
  void finish(const std::vector<int32_t>& pieces, double log_probability) {
    const auto length = static_cast<int64_t>(pieces.size()) + 1;
    const double score = log_probability / length_penalty(decoding_, length);
    const auto place = std::find_if(finished_.begin(), finished_.end(),
                                    [&](const Hypothesis& other) { return other.score < score; });
    finished_.insert(place, {pieces, log_probability, score});
    if (static_cast<int64_t>(finished_.size()) > decoding_.beam) finished_.pop_back();
  }

  bool is_greedy_and_done() const { return decoding_.beam == 1 && !finished_.empty(); }

  bool cannot_improve() const {
    if (static_cast<int64_t>(finished_.size()) < decoding_.beam || unfinished_.empty())
      return false;
    const double bound =
        unfinished_.front().log_probability / length_penalty(decoding_, most_pieces_ + 1);
    return bound <= finished_.back().score;
  }

  DecodingConfig decoding_;
  std::vector<SearchNode>* history_;
  int64_t fewest_pieces_;
  int64_t most_pieces_;
  std::vector<Unfinished> unfinished_ = std::vector<Unfinished>(1);  // nothing written
  std::vector<Hypothesis> finished_;
};

// Adds the time since the last part to a part, where anybody asks.
class Stopwatch {
 public:
  explicit Stopwatch(SearchProfile* profile) : profile_(profile) {}
  void add(double SearchProfile::*part) {
    if (profile_ == nullptr) return;
    const auto now = std::chrono::steady_clock::now();
    profile_->*part += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  SearchProfile* profile_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Without dropout for as long as it lives.
class EvaluationMode {
 public:
  explicit EvaluationMode(Transformer& model) : model_(model), training_(model->is_training()) {
    model_->eval();
  }
  ~EvaluationMode() { model_->train(training_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  Transformer& model_;
  bool training_;
};

// Which sentences are searched together: like lengths, the longest first.
std::vector<std::vector<size_t>> plan_batches(const std::vector<std::vector<int32_t>>& sources,
                                              const DecodingConfig& decoding) {
  std::vector<size_t> order(sources.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return sources[i].size(); });
  std::vector<std::vector<size_t>> batches;
  size_t room = 0;
  for (const size_t i : order) {
    if (room == 0) {
      const int64_t each = search_tokens(std::ssize(sources[i]) - 1, decoding);
      room = static_cast<size_t>(
          std::clamp(decoding.tokens_per_batch / each, int64_t{1}, decoding.sentences_per_batch));
      batches.emplace_back();
    }
    batches.back().push_back(i);
    --room;
  }
  return batches;
}

// Before a batch, for translations as long as the sources; and when they get longer, before the
// cache doubles its room: how long they become nobody knows.
void expect_search_memory(const ModelConfig& model, const DecodingConfig& decoding,
                          const SearchSize& size, int64_t written) {
  constexpr double kAlwaysThere = 64 << 20;  // not worth a look at what is available
  double bytes = search_memory(model, decoding, size);
  if (written > 0) {
    SearchSize half = size;
    half.pieces = written - 1;
    bytes -= search_memory(model, decoding, half);
  }
  if (bytes < kAlwaysThere) return;
  const auto problem = memory_problem(bytes);
  if (!problem) return;
  throw UserError("decoding: " + std::to_string(size.sentences) + " sentences at once of up to " +
                  std::to_string(size.source_pieces - 1) + " word-pieces, with decoding.beam = " +
                  std::to_string(decoding.beam) + " translations of each and " +
                  std::to_string(size.pieces) + " word-pieces in one, " + *problem +
                  "; lower decoding.beam, decoding.sentences_per_batch (" +
                  std::to_string(decoding.sentences_per_batch) +
                  ") or decoding.max_extra_length (" + std::to_string(decoding.max_extra_length) +
                  "), or leave out the longest lines. " + kMemoryCheckOff);
}

void search_batch(Transformer& model, const std::vector<std::vector<int32_t>>& sources,
                  const std::vector<size_t>& rows, const DecodingConfig& decoding,
                  const torch::Device& device, const SearchOptions& options,
                  std::vector<std::vector<Hypothesis>>& results) {
  std::vector<std::vector<int32_t>> batch;
  for (const size_t row : rows) batch.push_back(sources[row]);
  Stopwatch stopwatch(options.profile);
  SearchSize size{.sentences = std::ssize(rows),
                  .source_pieces = std::ssize(batch.front()),
                  .pieces = std::ssize(batch.front()),
                  .threads = at::get_num_threads()};
  const auto expect_room = [&](int64_t written) {
    if (device.is_cpu()) expect_search_memory(model->config(), decoding, size, written);
  };
  expect_room(0);
  const auto source = padded(batch, device);
  const auto source_mask = padding_mask(source, kPad);
  auto cache = model->start(model->encode(source, source_mask), source_mask);
  stopwatch.add(&SearchProfile::encoder);
  const auto beam = decoding.beam;
  if (options.profile != nullptr) {
    options.profile->flops += forward_flops(model->config(), {source.size(0), source.size(1), 0});
  }

  std::vector<Search> searches;
  std::vector<size_t> active(rows.size());  // the searches that go on, in the cache's order
  std::iota(active.begin(), active.end(), size_t{0});
  for (const size_t row : rows) {
    searches.emplace_back(std::ssize(sources[row]) - 1, model->config(), decoding, options);
  }

  auto tokens = torch::full({cache.rows}, int64_t{kBos}, torch::kLong);
  while (!active.empty()) {
    if (options.stopped()) return;
    if (options.profile != nullptr) {
      ++options.profile->steps;
      options.profile->rows += cache.rows;
      options.profile->flops +=
          step_flops(model->config(), cache.rows, cache.length, source.size(1));
    }
    if (cache.length > 1 && cache.length == cache.slots.size(1)) {
      size.sentences = std::ssize(active);
      size.pieces = 2 * cache.length - 1;
      expect_room(cache.length);
    }
    const auto hidden = model->step(tokens.to(device), cache);
    stopwatch.add(&SearchProfile::decoder);
    const auto best = best_pieces(model, hidden, beam);
    stopwatch.add(&SearchProfile::output);
    const int64_t width = cache.beam;
    if (cache.length == 1) cache.widen(beam);  // till then a sentence's hypotheses are all one
    std::vector<int64_t> chosen, newest;
    std::vector<size_t> still;
    for (size_t group = 0; group < active.size(); ++group) {
      auto& search = searches[active[group]];
      const auto first = static_cast<int64_t>(group) * beam;
      search.advance(best, static_cast<int64_t>(group) * width);
      const auto& unfinished = search.unfinished();
      if (unfinished.empty()) continue;
      still.push_back(active[group]);
      for (const auto& hypothesis : unfinished) {
        chosen.push_back(first + hypothesis.from);
        newest.push_back(hypothesis.pieces.back());
      }
      // Rows without a hypothesis are computed with the others and never read.
      chosen.resize(still.size() * static_cast<size_t>(beam), first);
      newest.resize(chosen.size(), kPad);
    }
    active = std::move(still);
    if (active.empty()) break;
    cache.select(torch::tensor(chosen, torch::kLong));
    tokens = torch::tensor(newest, torch::kLong);
    stopwatch.add(&SearchProfile::search);
  }
  for (size_t i = 0; i < rows.size(); ++i) results[rows[i]] = std::move(searches[i]).finished();
}

}  // namespace

double length_penalty(const DecodingConfig& decoding, int64_t length) {
  const auto L = static_cast<double>(length);
  switch (decoding.length_penalty) {
    case LengthPenalty::gnmt:
      return std::pow((5 + L) / 6, decoding.alpha);
    case LengthPenalty::power:
      return std::pow(L, decoding.alpha);
  }
  TORCH_INTERNAL_ASSERT(false, "length penalty without a case");
}

int64_t search_tokens(int64_t source_pieces, const DecodingConfig& decoding) {
  return std::max<int64_t>(1, decoding.beam * (source_pieces + decoding.max_extra_length));
}

std::vector<std::vector<Hypothesis>> beam_search(Transformer& model,
                                                 const std::vector<std::vector<int32_t>>& sources,
                                                 const DecodingConfig& decoding,
                                                 torch::Device device,
                                                 const SearchOptions& options) {
  for (const auto& source : sources) {
    TORCH_CHECK(!source.empty() && source.back() == kEos,
                "beam search: a source sentence ends with ", kEos);
  }
  TORCH_CHECK(options.history == nullptr || sources.size() == 1,
              "beam search: a history is of one sentence alone");
  const c10::InferenceMode inference;
  const EvaluationMode evaluation(model);

  std::vector<std::vector<Hypothesis>> results(sources.size());
  size_t done = 0;
  for (const auto& batch : plan_batches(sources, decoding)) {
    search_batch(model, sources, batch, decoding, device, options, results);
    if (options.stopped()) break;
    done += batch.size();
    if (options.on_done) options.on_done(done);
  }
  return results;
}

}  // namespace transformer
