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

// Figure 1, or one of its stacks alone (choices/family.h). Its registered names are the checkpoint
// format. One stack alone has the target side's embedding and positions.
//
// Ids are word-pieces, padded at the right with 0. `source_mask` is padding_mask(source). What a
// model that reads no source is given for one is not looked at.
class TransformerImpl : public torch::nn::Module {
 public:
  // A config that is resolved and states V. Weights are set by initialise (init.h) or a checkpoint.
  explicit TransformerImpl(const ModelConfig& config);

  // source, target (the decoder's input, or the sentence with its masks): [batch, source_time] and
  // [batch, target_time] int64. Returns the logits, [batch, target_time, V].
  torch::Tensor forward(const torch::Tensor& source, const torch::Tensor& target);

  // The same before the output projection, with what is met on the way.
  struct Pass {
    std::optional<torch::Tensor> encoder_mask;  // padding_mask of what the encoder reads
    std::optional<torch::Tensor> memory;        // what the decoder looks at
    torch::Tensor hidden;                       // [batch, target_time, d_model]
  };
  Pass pass(const torch::Tensor& source, const torch::Tensor& target);
  // pass(...).hidden without padding: [target tokens, d_model]. Where can_pack (packed.h) says so.
  torch::Tensor hidden_packed(const Packed& source, const Packed& target);

  // The two stacks of a model that reads a source.
  // source: [batch, source_time] int64. Returns the memory, [batch, source_time, d_model].
  torch::Tensor encode(const torch::Tensor& source, const torch::Tensor& source_mask);
  // target: the decoder's input, [batch, target_time] int64. Returns [batch, target_time, d_model].
  torch::Tensor decode(const torch::Tensor& target, const torch::Tensor& memory,
                       const torch::Tensor& source_mask);
  // [V, d_model]. Logits are what the stacks return times its transpose.
  torch::Tensor output_weight() const;
  // The same in panels; nullptr but in inference and evaluation mode on a CPU with kernels for it.
  const PanelMatrix* panel_output();
  void train(bool on = true) override;

  // Decoding with a cache: step i of a row returns what decode returns at position i. The second is
  // a decoder's without an encoder, for so many rows.
  DecoderCache start(const torch::Tensor& memory, const torch::Tensor& source_mask);
  DecoderCache start(int64_t rows);
  // tokens: [rows] int64, the newest of each row. Returns [rows, d_model].
  torch::Tensor step(const torch::Tensor& tokens, DecoderCache& cache);

  const ModelConfig& config() const { return config_; }

 private:
  torch::Tensor embed(torch::nn::Embedding& embedding, Positions& positions,
                      const torch::Tensor& ids, int64_t first = 0);
  torch::Tensor embed_target(const torch::Tensor& ids, int64_t first = 0);
  torch::Tensor embed_packed(torch::nn::Embedding& embedding, Positions& positions,
                             const Packed& sentences);
  void expect_source() const;

  ModelConfig config_;
  // `embedding` where tied, and then the target's too.
  std::optional<torch::nn::Embedding> source_embedding_;
  torch::nn::Embedding target_embedding_;
  std::optional<Positions> source_positions_;
  Positions target_positions_;
  std::optional<Encoder> encoder_;
  std::optional<Decoder> decoder_;
  std::optional<torch::nn::Linear> output_;  // where not tied
  PanelWeight panel_output_;
};
TORCH_MODULE(Transformer);

}  // namespace transformer
