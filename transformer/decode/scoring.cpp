#include "transformer/decode/scoring.h"

#include <torch/torch.h>

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <numeric>

#include "transformer/error.h"
#include "transformer/train/batch_tensors.h"

namespace transformer {

namespace {

// Logits of so many positions exist at a time.
constexpr int64_t kPositions = 256;

// log P of each target piece of a batch: [batch, target_time] float64, on the CPU.
torch::Tensor piece_log_probabilities(Transformer& model, const torch::Tensor& source,
                                      const torch::Tensor& target_input,
                                      const torch::Tensor& target_output) {
  const auto hidden = model->pass(source, target_input).hidden.flatten(0, 1);
  const auto pieces = target_output.flatten().unsqueeze(1);
  std::vector<torch::Tensor> blocks;
  for (int64_t start = 0; start < hidden.size(0); start += kPositions) {
    const int64_t count = std::min(kPositions, hidden.size(0) - start);
    const auto logits =
        hidden.narrow(0, start, count).matmul(model->output_weight().t()).to(torch::kFloat64);
    blocks.push_back(logits.gather(1, pieces.narrow(0, start, count)).squeeze(1) -
                     logits.logsumexp(1));
  }
  return torch::cat(blocks).view_as(target_output).to(torch::kCPU);
}

// Pairs that are scored together: like lengths, the shortest first. `sources` are empty where none
// is read.
std::vector<std::vector<size_t>> plan_batches(const std::vector<std::vector<int32_t>>& sources,
                                              const std::vector<PairScore>& targets,
                                              const DecodingConfig& decoding) {
  const auto longer = [&](size_t i) {
    return std::max(std::ssize(sources[i]), std::ssize(targets[i].pieces));
  };
  std::vector<size_t> order(sources.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, longer);
  std::vector<std::vector<size_t>> batches;
  for (const size_t i : order) {
    const int64_t most =
        std::min(decoding.sentences_per_batch, decoding.tokens_per_batch / longer(i));
    if (batches.empty() || std::ssize(batches.back()) >= most) batches.emplace_back();
    batches.back().push_back(i);
  }
  return batches;
}

}  // namespace

void expect_scores(const ModelConfig& model, const std::string& where) {
  if (scores_sentences(model.family)) return;
  throw UserError(
      where + ": the model's family is " + name_of(model.family) +
      ", which predicts masked word-pieces and gives sentences no probability; evaluate "
      "gives its perplexity over masked word-pieces");
}

std::optional<std::string> too_long_to_score(int64_t pieces, const ModelConfig& model,
                                             const DecodingConfig& decoding) {
  int64_t most = decoding.tokens_per_batch;
  std::string key = "decoding.tokens_per_batch";
  if (model.positions == PositionKind::learned && model.max_positions < most) {
    most = model.max_positions;
    key = "model.max_positions";
  }
  if (pieces <= most) return std::nullopt;
  return std::to_string(pieces) + " word-pieces, end-of-sentence included; " + key + " = " +
         std::to_string(most);
}

std::vector<PairScore> score(Translator& translator, const std::vector<std::string>& sources,
                             const std::vector<std::string>& targets, const ScoreOptions& options) {
  const auto& config = translator.model->config();
  expect_scores(config, "score");
  const bool has_sources = reads_source(config.family);
  if (sources.size() != (has_sources ? targets.size() : 0)) {
    throw UserError("score: expected as many targets as sources; got " +
                    std::to_string(sources.size()) + " sources and " +
                    std::to_string(targets.size()) + " targets" +
                    (has_sources ? "" : ", of a model that reads no source"));
  }
  const c10::InferenceMode inference;
  translator.model->eval();
  const auto check = [&](const std::vector<int32_t>& pieces, const std::string& file, size_t i) {
    const auto problem = too_long_to_score(std::ssize(pieces), config, translator.decoding);
    if (!problem) return;
    throw UserError(file + ": line " + std::to_string(options.first + i) + ": " + *problem);
  };
  std::vector<PairScore> scores(targets.size());
  std::vector<std::vector<int32_t>> source_pieces(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    if (has_sources) {
      source_pieces[i] = translator.source.encode(sources[i]);
      source_pieces[i].push_back(kEos);
    }
    scores[i].pieces = translator.target.encode(targets[i]);
    scores[i].pieces.push_back(kEos);
    check(source_pieces[i], options.source, i);
    check(scores[i].pieces, options.target, i);
  }
  for (const auto& batch : plan_batches(source_pieces, scores, translator.decoding)) {
    if (options.stop != nullptr && options.stop->load()) {
      for (const size_t i : batch) scores[i] = {};
      continue;
    }
    std::vector<std::vector<int32_t>> source, input, output;
    for (const size_t i : batch) {
      const auto& pieces = scores[i].pieces;
      source.push_back(source_pieces[i]);
      output.push_back(pieces);
      input.push_back({kBos});
      input.back().insert(input.back().end(), pieces.begin(), pieces.end() - 1);
    }
    const auto log_p = piece_log_probabilities(translator.model, padded(source, translator.device),
                                               padded(input, translator.device),
                                               padded(output, translator.device));
    for (size_t k = 0; k < batch.size(); ++k) {
      auto& each = scores[batch[k]];
      const auto* row = log_p[static_cast<int64_t>(k)].const_data_ptr<double>();
      each.piece_log_probabilities.assign(row, row + each.pieces.size());
      each.log_probability = std::accumulate(row, row + each.pieces.size(), 0.0);
    }
  }
  return scores;
}

}  // namespace transformer
