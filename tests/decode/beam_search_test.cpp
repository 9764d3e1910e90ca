#include "transformer/decode/beam_search.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "transformer/error.h"
#include "transformer/nn/init.h"
#include "transformer/random.h"

using namespace transformer;

namespace {

using Pieces = std::vector<int32_t>;
constexpr int32_t kBegin = 2, kEnd = 3;

Transformer make_model(int64_t V, torch::Dtype type = torch::kDouble, int64_t seed = 3) {
  auto config = small_model();
  config.V = config.source_V = V;
  Transformer model(config);
  initialise(*model, seed);
  model->to(type);
  // Sharper than the initial model, so that sentences end at different lengths.
  const torch::NoGradGuard no_grad;
  model->output_weight().mul_(3);
  return model;
}

std::vector<Pieces> random_sources(size_t count, int64_t V, uint64_t longest = 12) {
  Random random(7);
  std::vector<Pieces> sources(count);
  for (auto& source : sources) {
    for (uint64_t i = random.below(longest); i > 0; --i) {
      source.push_back(static_cast<int32_t>(4 + random.below(static_cast<uint64_t>(V) - 4)));
    }
    source.push_back(kEnd);
  }
  return sources;
}

torch::Tensor ids(const Pieces& pieces) {
  return torch::tensor(std::vector<int64_t>(pieces.begin(), pieces.end())).unsqueeze(0);
}

// The log-probabilities of what may follow, from the whole prefix and without a cache.
std::vector<double> next(Transformer& model, const Pieces& source, const Pieces& written) {
  Pieces input = {kBegin};
  input.insert(input.end(), written.begin(), written.end());
  const torch::NoGradGuard no_grad;
  const auto logits = model(ids(source), ids(input))[0][-1].to(torch::kDouble).log_softmax(0);
  return {logits.const_data_ptr<double>(), logits.const_data_ptr<double>() + logits.numel()};
}

bool writable(int32_t piece) { return piece != 0 && piece != kBegin && piece != kEnd; }

double penalty(const DecodingConfig& decoding, size_t pieces) {
  const double length = static_cast<double>(pieces + 1);
  return decoding.length_penalty == LengthPenalty::gnmt ? std::pow((5 + length) / 6, decoding.alpha)
                                                        : std::pow(length, decoding.alpha);
}

bool better(const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; }

// All translations of at most `most` pieces.
void enumerate(Transformer& model, const Pieces& source, const DecodingConfig& decoding,
               size_t most, Hypothesis prefix, std::vector<Hypothesis>& found) {
  const auto follows = next(model, source, prefix.pieces);
  const double ended = prefix.log_probability + follows[kEnd];
  found.push_back({prefix.pieces, ended, ended / penalty(decoding, prefix.pieces.size())});
  if (prefix.pieces.size() == most) return;
  for (int32_t piece = 0; piece < static_cast<int32_t>(follows.size()); ++piece) {
    if (!writable(piece)) continue;
    Hypothesis longer = prefix;
    longer.pieces.push_back(piece);
    longer.log_probability += follows[static_cast<size_t>(piece)];
    enumerate(model, source, decoding, most, longer, found);
  }
}

// The header's rules for one sentence, without cache, batch or early stop.
std::vector<Hypothesis> reference(Transformer& model, const Pieces& source,
                                  const DecodingConfig& decoding) {
  const auto beam = static_cast<size_t>(decoding.beam);
  const size_t most = source.size() - 1 + static_cast<size_t>(decoding.max_extra_length);
  std::vector<Hypothesis> unfinished(1), finished;
  while (!unfinished.empty()) {
    std::vector<Hypothesis> all;
    for (const auto& hypothesis : unfinished) {
      const auto follows = next(model, source, hypothesis.pieces);
      for (int32_t piece = 0; piece < static_cast<int32_t>(follows.size()); ++piece) {
        const bool allowed = writable(piece) ? hypothesis.pieces.size() < most : piece == kEnd;
        if (!allowed) continue;
        all.push_back(hypothesis);
        all.back().pieces.push_back(piece);
        all.back().log_probability += follows[static_cast<size_t>(piece)];
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.log_probability > b.log_probability;
    });
    unfinished.clear();
    for (size_t rank = 0; rank < all.size(); ++rank) {
      auto& hypothesis = all[rank];
      if (hypothesis.pieces.back() != kEnd) {
        if (unfinished.size() < beam) unfinished.push_back(hypothesis);
      } else if (rank < beam) {
        hypothesis.pieces.pop_back();
        hypothesis.score = hypothesis.log_probability / penalty(decoding, hypothesis.pieces.size());
        finished.push_back(hypothesis);
      }
    }
    if (beam == 1 && !finished.empty()) unfinished.clear();
  }
  std::stable_sort(finished.begin(), finished.end(), better);
  if (finished.size() > beam) finished.resize(beam);
  return finished;
}

void require_equal(const std::vector<Hypothesis>& found, const std::vector<Hypothesis>& want) {
  REQUIRE(found.size() == want.size());
  for (size_t i = 0; i < found.size(); ++i) {
    REQUIRE(found[i].pieces == want[i].pieces);
    REQUIRE(found[i].log_probability == Approx(want[i].log_probability).epsilon(1e-9));
    REQUIRE(found[i].score == Approx(want[i].score).epsilon(1e-9));
  }
}

}  // namespace

TEST_CASE("beam search: the length penalty, by hand", "[numeric]") {
  REQUIRE(length_penalty({.alpha = 1}, 7) == Approx(2));
  REQUIRE(length_penalty({.alpha = 0.6}, 1) == Approx(1));
  REQUIRE(length_penalty({.alpha = 0}, 50) == Approx(1));
  REQUIRE(length_penalty({.alpha = 0.5, .length_penalty = LengthPenalty::power}, 9) == Approx(3));
}

TEST_CASE("beam search: a beam that holds everything finds what enumeration finds", "[numeric]") {
  auto model = make_model(6);  // writes 1, 4 and 5: 40 translations of at most three pieces
  const Pieces source = {4, kEnd};
  for (const auto kind : {LengthPenalty::gnmt, LengthPenalty::power}) {
    for (const double alpha : {0.0, 0.6, 2.0}) {
      const DecodingConfig decoding{
          .beam = 40, .alpha = alpha, .length_penalty = kind, .max_extra_length = 2};
      std::vector<Hypothesis> want;
      enumerate(model, source, decoding, 3, {}, want);
      REQUIRE(want.size() == 40);
      std::sort(want.begin(), want.end(), better);
      require_equal(beam_search(model, {source}, decoding, torch::kCPU)[0], want);
    }
  }
}

TEST_CASE("beam search: equals its rules followed without cache, batch and early stop",
          "[numeric]") {
  auto model = make_model(9);
  const auto sources = random_sources(6, 9, 8);
  for (const int64_t beam : {1, 2, 3, 5}) {
    for (const double alpha : {0.0, 0.6, 1.5}) {
      const DecodingConfig decoding{.beam = beam, .alpha = alpha, .max_extra_length = 6};
      const auto found = beam_search(model, sources, decoding, torch::kCPU);
      for (size_t i = 0; i < sources.size(); ++i) {
        require_equal(found[i], reference(model, sources[i], decoding));
      }
    }
  }
}

TEST_CASE("beam search: a beam of one is greedy search, whatever the penalty", "[numeric]") {
  auto model = make_model(11);
  const auto sources = random_sources(20, 11);
  const auto found =
      beam_search(model, sources, {.beam = 1, .alpha = 1.0, .max_extra_length = 9}, torch::kCPU);
  std::map<size_t, int> lengths;
  for (size_t i = 0; i < sources.size(); ++i) {
    Pieces greedy;
    while (greedy.size() < sources[i].size() - 1 + 9) {
      auto follows = next(model, sources[i], greedy);
      follows[0] = follows[kBegin] = -1e9;
      const auto best =
          static_cast<int32_t>(std::max_element(follows.begin(), follows.end()) - follows.begin());
      if (best == kEnd) break;
      greedy.push_back(best);
    }
    REQUIRE(found[i].size() == 1);
    REQUIRE(found[i][0].pieces == greedy);
    ++lengths[greedy.size()];
  }
  REQUIRE(lengths.size() > 3);  // or the test says little
}

TEST_CASE("beam search: a sentence's translations are the same alone and in any batch",
          "[numeric]") {
  const auto type = GENERATE(torch::kDouble, torch::kFloat);
  auto model = make_model(40, type);
  const auto sources = random_sources(300, 40);
  DecodingConfig decoding{.beam = 4, .max_extra_length = 5, .sentences_per_batch = 64};
  const auto together = beam_search(model, sources, decoding, torch::kCPU);
  auto reversed = sources;
  std::reverse(reversed.begin(), reversed.end());
  decoding.sentences_per_batch = 17;
  const auto otherwise = beam_search(model, reversed, decoding, torch::kCPU);
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto& other = otherwise[sources.size() - 1 - i];
    REQUIRE(together[i].size() == other.size());
    for (size_t rank = 0; rank < other.size(); ++rank) {
      REQUIRE(together[i][rank].pieces == other[rank].pieces);
      REQUIRE(together[i][rank].score == Approx(other[rank].score).epsilon(1e-4));
    }
    if (i % 10 != 0) continue;
    const auto alone = beam_search(model, {sources[i]}, decoding, torch::kCPU)[0];
    REQUIRE(alone.size() == other.size());
    REQUIRE(alone[0].pieces == other[0].pieces);
  }
}

TEST_CASE("beam search: a stop ends it, and what was done stays", "[numeric]") {
  auto model = make_model(40);
  const auto sources = random_sources(20, 40);
  const DecodingConfig decoding{.max_extra_length = 5, .sentences_per_batch = 4};
  const auto whole = beam_search(model, sources, decoding, torch::kCPU);
  std::atomic<bool> stop = false;
  size_t heard = 0;
  const auto cut = beam_search(model, sources, decoding, torch::kCPU,
                               {.on_done =
                                    [&](size_t done) {
                                      heard = done;
                                      stop = done == 8;
                                    },
                                .stop = &stop});
  REQUIRE(heard == 8);
  size_t done = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (cut[i].empty()) continue;
    ++done;
    REQUIRE(cut[i][0].pieces == whole[i][0].pieces);
  }
  REQUIRE(done == 8);
}

TEST_CASE("beam search: batches keep to tokens_per_batch", "[numeric]") {
  auto model = make_model(40);
  const auto sources = random_sources(30, 40, 5);
  const DecodingConfig decoding{.max_extra_length = 6, .tokens_per_batch = 130};
  REQUIRE(search_tokens(4, decoding) == 40);
  std::vector<size_t> done;
  const auto found = beam_search(model, sources, decoding, torch::kCPU,
                                 {.on_done = [&](size_t count) { done.push_back(count); }});
  REQUIRE(done.size() > 7);  // three or four of 32 to 40 tokens, five of 24 at the end
  REQUIRE(done.front() == 3);
  REQUIRE(done.back() == 30);
  for (size_t i = 0; i < sources.size(); ++i) REQUIRE_FALSE(found[i].empty());
}

TEST_CASE("beam search: the kernels for the CPU find what PyTorch's operations find", "[numeric]") {
  auto model = make_model(300, torch::kFloat);
  const auto sources = random_sources(40, 300);
  const DecodingConfig decoding{.max_extra_length = 20};
  const auto found = beam_search(model, sources, decoding, torch::kCPU);  // float: kernels
  model->to(torch::kDouble);
  const auto want = beam_search(model, sources, decoding, torch::kCPU);
  for (size_t i = 0; i < sources.size(); ++i) {
    REQUIRE(found[i].size() == want[i].size());
    REQUIRE(found[i][0].pieces == want[i][0].pieces);
    REQUIRE(found[i][0].score == Approx(want[i][0].score).epsilon(1e-4));
  }
}

TEST_CASE("beam search: translations of exactly so many pieces", "[numeric]") {
  auto model = make_model(9);
  for (const int64_t pieces : {0, 3, 17}) {
    for (const auto& found :
         beam_search(model, random_sources(5, 9), {}, torch::kCPU, {.pieces = pieces})) {
      for (const auto& hypothesis : found) REQUIRE(std::ssize(hypothesis.pieces) == pieces);
    }
  }
}

TEST_CASE("beam search: writes no special piece and keeps to the length allowed", "[numeric]") {
  auto model = make_model(7);
  const auto sources = random_sources(10, 7, 4);
  for (const int64_t extra : {0, 3}) {
    const DecodingConfig decoding{.beam = 30, .max_extra_length = extra};  // more than V
    const auto found = beam_search(model, sources, decoding, torch::kCPU);
    for (size_t i = 0; i < sources.size(); ++i) {
      REQUIRE_FALSE(found[i].empty());
      REQUIRE(std::is_sorted(found[i].begin(), found[i].end(), better));
      for (const auto& hypothesis : found[i]) {
        REQUIRE(hypothesis.pieces.size() <= sources[i].size() - 1 + static_cast<size_t>(extra));
        REQUIRE(std::all_of(hypothesis.pieces.begin(), hypothesis.pieces.end(), writable));
      }
    }
  }
  REQUIRE(beam_search(model, {}, {}, torch::kCPU).empty());
}

TEST_CASE("beam search: learned positions end a translation where their table ends", "[numeric]") {
  auto config = small_model();
  config.positions = PositionKind::learned;
  config.max_positions = 6;
  Transformer model(config);
  initialise(*model, 1);
  const auto found = beam_search(model, {{5, 6, 7, 8, kEnd}}, {}, torch::kCPU);
  for (const auto& hypothesis : found[0]) {
    REQUIRE(hypothesis.pieces.size() <= 5);
  }
}

TEST_CASE("beam search: leaves the model's mode as it was and its dropout out", "[numeric]") {
  auto config = small_model();
  config.P_drop = 0.5;
  Transformer model(config);
  initialise(*model, 1);
  const DecodingConfig decoding{.max_extra_length = 4};
  const auto first = beam_search(model, {{5, 6, kEnd}}, decoding, torch::kCPU);
  REQUIRE(model->is_training());
  require_equal(beam_search(model, {{5, 6, kEnd}}, decoding, torch::kCPU)[0], first[0]);
  model->eval();
  beam_search(model, {{5, 6, kEnd}}, decoding, torch::kCPU);
  REQUIRE_FALSE(model->is_training());
}

TEST_CASE("beam search: a model that gives no number is a failure", "[numeric]") {
  auto model = make_model(7);
  const torch::NoGradGuard no_grad;
  model->output_weight().select(0, 4).fill_(std::nan(""));
  REQUIRE_THROWS_AS(beam_search(model, {{5, kEnd}}, {}, torch::kCPU), Failure);
}

TEST_CASE("beam search: its history is a tree that leads to every translation", "[numeric]") {
  auto model = make_model(9);
  const DecodingConfig decoding{.beam = 3, .max_extra_length = 4};
  for (const auto& source : random_sources(4, 9, 5)) {
    std::vector<SearchNode> history;
    const auto found = beam_search(model, {source}, decoding, torch::kCPU, {.history = &history});
    for (const auto& hypothesis : found[0]) {
      const auto end = std::ranges::find_if(history, [&](const SearchNode& node) {
        return node.piece == kEnd && node.log_probability == hypothesis.log_probability;
      });
      REQUIRE(end != history.end());
      Pieces pieces;
      for (int64_t node = end->parent; node >= 0;) {
        const auto& each = history[static_cast<size_t>(node)];
        pieces.insert(pieces.begin(), each.piece);
        REQUIRE(each.parent < node);
        node = each.parent;
      }
      REQUIRE(pieces == hypothesis.pieces);
    }
  }
  std::vector<SearchNode> history;
  REQUIRE_THROWS(
      beam_search(model, random_sources(2, 9), decoding, torch::kCPU, {.history = &history}));
}
