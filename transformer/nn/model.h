#pragma once

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include <optional>

#include "transformer/config.h"
#include "transformer/nn/decoder.h"
#include "transformer/nn/encoder.h"
#include "transformer/nn/kernels/panel_matrix.h"
#include "transformer/nn/packed.h"
#include "transformer/nn/positions.h"

namespace transformer {

// Figure 1: the encoder-decoder. Its registered names are the checkpoint format.
//
// Ids are word-pieces, padded at the right with 0. `source_mask` is padding_mask(source).
class TransformerImpl : public torch::nn::Module {
 public:
  // A config that is resolved and states V. Weights are set by initialise (init.h) or a checkpoint.
  explicit TransformerImpl(const ModelConfig& config);

  // source, target (the decoder's input): [batch, source_time] and [batch, target_time] int64.
  // Returns the logits, [batch, target_time, V].
  torch::Tensor forward(const torch::Tensor& source, const torch::Tensor& target);

  // source: [batch, source_time] int64. Returns the memory, [batch, source_time, d_model].
  torch::Tensor encode(const torch::Tensor& source, const torch::Tensor& source_mask);
  // target: the decoder's input, [batch, target_time] int64. Returns [batch, target_time, d_model].
  torch::Tensor decode(const torch::Tensor& target, const torch::Tensor& memory,
                       const torch::Tensor& source_mask);
  // What decode returns for both together, without padding: [target tokens, d_model]. Where
  // can_pack (packed.h) says so.
  torch::Tensor decode_packed(const Packed& source, const Packed& target);
  // [V, d_model]. Logits are what decode returns times its transpose.
  torch::Tensor output_weight() const;
  // The same in panels; nullptr but in inference and evaluation mode on a CPU with kernels for it.
  const PanelMatrix* panel_output();
  void train(bool on = true) override;

  // Decoding with a cache: step i of a row returns what decode returns at position i.
  DecoderCache start(const torch::Tensor& memory, const torch::Tensor& source_mask);
  // tokens: [rows] int64, the newest of each row. Returns [rows, d_model].
  torch::Tensor step(const torch::Tensor& tokens, DecoderCache& cache);

  const ModelConfig& config() const { return config_; }

 private:
  torch::Tensor embed(torch::nn::Embedding& embedding, Positions& positions,
                      const torch::Tensor& ids, int64_t first = 0);
  torch::Tensor embed_packed(torch::nn::Embedding& embedding, Positions& positions,
                             const Packed& sentences);

  ModelConfig config_;
  torch::nn::Embedding source_embedding_;  // `embedding` where tied, and then the target's too
  torch::nn::Embedding target_embedding_;
  Positions source_positions_;
  Positions target_positions_;
  Encoder encoder_;
  Decoder decoder_;
  std::optional<torch::nn::Linear> output_;  // where not tied
  PanelWeight panel_output_;
};
TORCH_MODULE(Transformer);

}  // namespace transformer
