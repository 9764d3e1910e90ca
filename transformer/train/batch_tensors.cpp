#include "transformer/train/batch_tensors.h"

#include <torch/torch.h>

#include <algorithm>

#include "transformer/data/tokenizer.h"
#include "transformer/nn/packed.h"

namespace transformer {

namespace {

torch::Tensor matrix(const std::vector<int32_t>& ids, int64_t rows, int64_t columns,
                     const torch::Device& device) {
  // from_blob only reads here; the copy to int64 is what is kept.
  auto* data = const_cast<int32_t*>(ids.data());  // NOLINT
  return torch::from_blob(data, {rows, columns}, torch::kInt32).to(torch::kInt64).to(device);
}

}  // namespace

BatchTensors to_device(const Batch& batch, const torch::Device& device) {
  return {matrix(batch.source, batch.sentences, batch.source_length, device),
          matrix(batch.target_input, batch.sentences, batch.target_length, device),
          matrix(batch.target_output, batch.sentences, batch.target_length, device)};
}

Hidden hidden_of(Transformer& model, const BatchTensors& batch) {
  const bool drops_attention = model->is_training() && model->config().attention_drop > 0;
  if (can_pack(model->output_weight()) && !drops_attention) {
    return {model->hidden_packed(pack(batch.source, kPad), pack(batch.target_input, kPad)),
            batch.target_output.masked_select(batch.target_input.ne(kPad))};
  }
  return {model->pass(batch.source, batch.target_input).hidden, batch.target_output};
}

torch::Tensor padded(const std::vector<std::vector<int32_t>>& rows, const torch::Device& device) {
  size_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.size());
  std::vector<int32_t> ids(rows.size() * longest, kPad);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(rows[i], ids.begin() + static_cast<std::ptrdiff_t>(i * longest));
  }
  return matrix(ids, static_cast<int64_t>(rows.size()), static_cast<int64_t>(longest), device);
}

}  // namespace transformer
