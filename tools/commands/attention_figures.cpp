#include "tools/commands/attention_figures.h"

#include <torch/torch.h>

#include "transformer/analysis/attention_weights.h"
#include "transformer/error.h"
#include "transformer/printable.h"
#include "transformer/train/batch_tensors.h"

namespace transformer {

namespace {

void add_piece(Pieces& pieces, const Tokenizer& tokenizer, int32_t id) {
  constexpr size_t kMost = 60;
  pieces.ids.push_back(id);
  pieces.texts.push_back(printable(tokenizer.piece(id), kMost));
}

// weights: [h, q_time, k_time]
Json heads_json(const torch::Tensor& weights, const std::vector<int64_t>& heads) {
  Json list = Json::array();
  for (const int64_t head : heads) {
    Json rows = Json::array();
    const auto matrix = weights[head].to(torch::kDouble).contiguous();
    for (int64_t q = 0; q < matrix.size(0); ++q) {
      const auto* row = matrix.const_data_ptr<double>() + q * matrix.size(1);
      rows.push_back(std::vector<double>(row, row + matrix.size(1)));
    }
    list.push_back({{"head", head}, {"weights", rows}});
  }
  return list;
}

}  // namespace

Pieces pieces_of_source(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  Pieces pieces;
  for (const int32_t id : ids) add_piece(pieces, tokenizer, id);
  add_piece(pieces, tokenizer, kEos);
  return pieces;
}

Pieces pieces_of_target(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  Pieces pieces;
  add_piece(pieces, tokenizer, kBos);
  for (const int32_t id : ids) add_piece(pieces, tokenizer, id);
  return pieces;
}

void expect_kind(const std::string& kind, const ModelConfig& model, const std::string& where) {
  if (kind != "encoder" && kind != "decoder" && kind != "cross") {
    throw UserError(where + ": " + fields::shown_name(kind) +
                    " is not one of: encoder, decoder, cross");
  }
  const bool is_there = kind == "cross"     ? reads_source(model.family)
                        : kind == "encoder" ? has_encoder(model.family)
                                            : has_decoder(model.family);
  if (is_there) return;
  throw UserError(where + ": the model's family is " + name_of(model.family) +
                  ", which has no attention of the kind " + kind);
}

std::string kind_of(const SublayerName& name) {
  return name.sublayer == "cross_attention" ? "cross" : name.stack;
}

bool is_chosen(const AttentionChoice& choice, const SublayerName& name) {
  return (choice.kind.empty() || choice.kind == kind_of(name)) &&
         (choice.layer < 0 || choice.layer == name.layer);
}

std::vector<int64_t> chosen_heads(const AttentionChoice& choice, int64_t h) {
  std::vector<int64_t> heads;
  for (int64_t head = 0; head < h; ++head) {
    if (choice.head < 0 || choice.head == head) heads.push_back(head);
  }
  return heads;
}

Json attention_figures(Translator& translator, const Pieces& source, const Pieces& target,
                       const AttentionChoice& choice) {
  const auto heads = chosen_heads(choice, translator.model->config().h);
  Json list = Json::array();
  for (const auto& each :
       attention_weights(translator.model, padded({source.ids}, translator.device),
                         padded({target.ids}, translator.device))) {
    const SublayerName name(each.attention);
    if (!is_chosen(choice, name)) continue;
    list.push_back({{"attention", each.attention},
                    {"kind", kind_of(name)},
                    {"layer", name.layer},
                    {"heads", heads_json(each.weights[0].to(torch::kCPU), heads)}});
  }
  return {{"source", source.texts}, {"target", target.texts}, {"attention", list}};
}

}  // namespace transformer
