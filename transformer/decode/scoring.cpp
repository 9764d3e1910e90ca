#include "transformer/decode/scoring.h"

#include <torch/torch.h>

#include <algorithm>
#include <numeric>

#include "transformer/error.h"
#include "transformer/nn/masks.h"
#include "transformer/train/batch_tensors.h"

namespace transformer {

namespace {

// log P of each target piece of a batch: [batch, target_time] float64.
torch::Tensor piece_log_probabilities(Transformer& model, const torch::Tensor& source,
                                      const torch::Tensor& target_input,
                                      const torch::Tensor& target_output) {
  const auto mask = padding_mask(source);
  const auto hidden = model->decode(target_input, model->encode(source, mask), mask);
  const auto logits = torch::matmul(hidden, model->output_weight().t());
  return torch::log_softmax(logits.to(torch::kFloat64), -1)
      .gather(-1, target_output.unsqueeze(-1))
      .squeeze(-1);
}

}  // namespace

std::vector<PairScore> score(Translator& translator, const std::vector<std::string>& sources,
                             const std::vector<std::string>& targets) {
  if (sources.size() != targets.size()) {
    throw UserError("score: expected as many targets as sources; got " +
                    std::to_string(sources.size()) + " sources and " +
                    std::to_string(targets.size()) + " targets");
  }
  torch::NoGradGuard no_gradient;
  translator.model->eval();
  std::vector<PairScore> scores(sources.size());
  std::vector<std::vector<int32_t>> source_pieces(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    source_pieces[i] = translator.source.encode(sources[i]);
    source_pieces[i].push_back(kEos);
    scores[i].pieces = translator.target.encode(targets[i]);
    scores[i].pieces.push_back(kEos);
  }
  std::vector<size_t> order(sources.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, {}, [&](size_t i) { return source_pieces[i].size() + scores[i].pieces.size(); });
  const auto batch_size = static_cast<size_t>(translator.decoding.sentences_per_batch);
  for (size_t start = 0; start < order.size(); start += batch_size) {
    const size_t end = std::min(order.size(), start + batch_size);
    std::vector<std::vector<int32_t>> source, input, output;
    for (size_t k = start; k < end; ++k) {
      const auto& pieces = scores[order[k]].pieces;
      source.push_back(source_pieces[order[k]]);
      output.push_back(pieces);
      input.push_back({kBos});
      input.back().insert(input.back().end(), pieces.begin(), pieces.end() - 1);
    }
    const auto log_p =
        piece_log_probabilities(translator.model, padded(source, translator.device),
                                padded(input, translator.device), padded(output, translator.device))
            .to(torch::kCPU);
    for (size_t k = start; k < end; ++k) {
      auto& each = scores[order[k]];
      const auto* row = log_p[static_cast<int64_t>(k - start)].const_data_ptr<double>();
      each.piece_log_probabilities.assign(row, row + each.pieces.size());
      each.log_probability = std::accumulate(row, row + each.pieces.size(), 0.0);
    }
  }
  return scores;
}

}  // namespace transformer
