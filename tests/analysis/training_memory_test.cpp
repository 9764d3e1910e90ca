#include "transformer/analysis/training_memory.h"

#include "tests/catch.h"
#include "transformer/analysis/parameters.h"

using namespace transformer;

namespace {

ModelConfig narrow_model() {
  Config config;
  config.model.N = 1;
  config.model.d_model = 2;
  config.model.d_ff = 5;
  config.model.h = 1;
  config.model.P_drop = 0.0;
  config.model.V = 6;
  return resolve(config).model;
}

constexpr double kRounded = 17.0 / 16;

}  // namespace

TEST_CASE("training memory: by hand, for 2 source and 3 target positions") {
  const auto model = narrow_model();
  const auto parameters = static_cast<double>(count_parameters(model).total());
  // Projection's input, q, o's input, normalizer; then the sum, its mean and deviation.
  const double asks = 2 + 2 + 2 + 1 + (2 + 2);
  const double asked = 2 + 2;                   // k, v
  const double feed_forward = 2 + 5 + (2 + 2);  // both products' inputs, and the sum as above
  const double encoder = 2 * (asks + asked + feed_forward);
  const double decoder = 3 * (asks + asked + asks + feed_forward) + 2 * asked;
  const double joined = 2 * 6 + 2 * 6 + 2 * 4;  // q, k, v of both stacks, and k, v
  const double ends = 5 * (2 + 2 + 6);
  const double logits = 3 * 6 + 2 * 6 + 2 * 3 * 2;  // and the gradients of both their factors
  const double on_their_way = 3 * (2 + 2 + 6);      // 6: of q, k and v
  const auto memory = training_memory(model, without_padding({1, 2, 3}));
  REQUIRE(memory.state == Approx(kRounded * 16 * parameters));
  REQUIRE(memory.batch ==
          Approx(kRounded * 4 * (encoder + decoder + joined + ends + logits + on_their_way)));
}

TEST_CASE("training memory: a gated feed-forward layer keeps four tensors of its inner width") {
  auto model = narrow_model();
  const auto plain = training_memory(model, without_padding({1, 2, 3}));
  model.feed_forward = FeedForwardKind::swiglu;
  const auto gated = training_memory(model, without_padding({1, 2, 3}));
  REQUIRE(gated.state - plain.state == Approx(kRounded * 16 * 2 * (2 * 5 + 5)));
  // 20 for 5 numbers, of 2 and 3 positions; on their way 20 for 6.
  REQUIRE(gated.batch - plain.batch == Approx(kRounded * 4 * (15 * (2 + 3) + 14 * 3)));
}

TEST_CASE("training memory: padding counts with attention_drop, which keeps the weights") {
  auto model = narrow_model();
  const BatchSize half_empty = {{2, 4, 4}, 4, 4};
  const auto packed = training_memory(model, half_empty);
  REQUIRE(packed.batch == training_memory(model, without_padding({1, 4, 4})).batch);
  model.attention_drop = 0.1;
  const auto padded = training_memory(model, half_empty);
  REQUIRE(padded.batch == training_memory(model, without_padding({2, 4, 4})).batch);
  // Before and after dropout, in three attentions of 8 queries and 4 keys each.
  REQUIRE(padded.batch == Approx(kRounded * 4 * (3 * 2 * 8 * 4) + [&] {
            auto without = narrow_model();
            return training_memory(without, without_padding({2, 4, 4})).batch;
          }()));
}

TEST_CASE("search memory: rooms of 16 and 32 positions for 17 to 31 word-pieces") {
  const auto model = narrow_model();
  DecodingConfig decoding;
  decoding.beam = 3;
  const auto bytes = [&](int64_t pieces) {
    return search_memory(model, decoding, {.sentences = 5, .source_pieces = 7, .pieces = pieces});
  };
  REQUIRE(bytes(17) == bytes(31));
  // Of 15 translations: 2 keys and 2 values in float32, and the row that wrote them.
  REQUIRE(bytes(17) - bytes(15) == Approx(15 * 32 * (4 * 4 + 8)));
  REQUIRE(bytes(32) - bytes(31) == Approx(15 * 64 * (4 * 4 + 8)));
}
