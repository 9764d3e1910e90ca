#include "transformer/train/precision.h"

#include <torch/torch.h>

#include "tests/catch.h"
#include "transformer/data/tokenizer.h"
#include "transformer/error.h"
#include "transformer/nn/init.h"
#include "transformer/train/step.h"

using namespace transformer;

namespace {

bool has_bfloat16() {
  try {
    expect_precision(Precision::bfloat16, torch::kCPU);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace

// 1 + 2^-9 lies between two bfloat16 numbers, 2^-7 apart above 1, and is rounded to 1; 512 such
// products add up to 512 in bfloat16 products, and to 513 in float32, whose sums both have.
TEST_CASE("precision: operands are rounded to bfloat16, their products added up in float32",
          "[numeric]") {
  if (!has_bfloat16()) {
    WARN("skipped: this processor does not multiply bfloat16");
    return;
  }
  const auto left = torch::full({64, 512}, 1 + 1.0 / 512);
  const auto right = torch::ones({512, 64});
  const auto of = [&](Precision precision) {
    const ProductPrecision products(precision, torch::kCPU);
    return torch::mm(left, right);
  };
  REQUIRE(torch::equal(of(Precision::float32), torch::full({64, 64}, 513.0)));
  REQUIRE(torch::equal(of(Precision::bfloat16), torch::full({64, 64}, 512.0)));
  REQUIRE(torch::equal(torch::mm(left, right), torch::full({64, 64}, 513.0)));  // as before
}

// Rounding to 8 bits is an error of up to 2^-9 of an operand; two layers forth and back add up
// dozens.
TEST_CASE(
    "precision: a step's gradients with bfloat16 products are those of float32 but for rounding",
    "[numeric]") {
  if (!has_bfloat16()) {
    WARN("skipped: this processor does not multiply bfloat16");
    return;
  }
  Config config;
  config.model.N = 2;
  config.model.d_model = 64;
  config.model.d_ff = 128;
  config.model.h = 4;
  config.model.V = 100;
  config = resolve(config);
  Transformer model(config.model);
  initialise(*model, 3);
  model->train();
  constexpr int64_t kSentences = 16, kLength = 8;
  Batch batch;
  batch.sentences = kSentences;
  batch.source_length = batch.target_length = kLength;
  batch.source_tokens = batch.target_tokens = kSentences * kLength;
  for (int32_t i = 0; i < kSentences * kLength; ++i) {
    const bool is_last = i % kLength == kLength - 1;
    batch.source.push_back(is_last ? kEos : 4 + (7 * i) % 96);
    batch.target_input.push_back(i % kLength == 0 ? kBos : 4 + (5 * i) % 96);
    batch.target_output.push_back(is_last ? kEos : 4 + (5 * (i + 1)) % 96);
  }
  const auto gradients = [&](Precision precision) {
    config.training.precision = precision;
    gradients_of(model, {batch}, nullptr, config.training, 1, torch::kCPU);
    std::vector<torch::Tensor> all;
    for (const auto& parameter : model->parameters()) all.push_back(parameter.grad().flatten());
    return torch::cat(all).clone();
  };
  const auto exact = gradients(Precision::float32);
  const auto rounded = gradients(Precision::bfloat16);
  const double error = ((rounded - exact).norm() / exact.norm()).item<double>();
  REQUIRE(error > 1e-5);
  REQUIRE(error < 0.1);
  REQUIRE(torch::equal(gradients(Precision::bfloat16), rounded));
}
