#include "transformer/analysis/flops.h"

namespace transformer {

namespace {

// Widths as doubles: products of them leave 64 bits.
struct Widths {
  explicit Widths(const ModelConfig& model)
      : d_model(static_cast<double>(model.d_model)),
        inner(static_cast<double>(model.inner_width())),
        into(is_gated(model.feed_forward) ? 2 : 1),
        h(static_cast<double>(model.h)),
        q(h * static_cast<double>(model.d_k)),
        k(static_cast<double>(model.kv_heads * model.d_k)),
        v(static_cast<double>(model.kv_heads * model.d_v)),
        o(h * static_cast<double>(model.d_v)) {}
  double d_model, inner, into, h, q, k, v, o;  // into: matrices d_model -> inner
};

double product(double rows, double inner, double columns) { return 2 * rows * inner * columns; }

// One attention of `queries` positions over `keys` positions in each of `sentences`.
double attention(const Widths& w, double sentences, double queries, double keys) {
  return product(sentences * queries, w.d_model, w.q) +
         product(sentences * keys, w.d_model, w.k + w.v) +
         product(sentences * queries, w.o, w.d_model) + product(sentences * queries, w.q, keys) +
         product(sentences * queries, keys, w.o);
}

double feed_forward(const Widths& w, double positions) {
  return w.into * product(positions, w.d_model, w.inner) + product(positions, w.inner, w.d_model);
}

}  // namespace

double forward_flops(const ModelConfig& model, const BatchShape& batch) {
  const Widths w(model);
  const auto sentences = static_cast<double>(batch.sentences);
  const auto source = static_cast<double>(batch.source_length);
  const auto target = static_cast<double>(batch.target_length);
  const auto alone = [&](double length) {  // a layer without cross-attention
    return attention(w, sentences, length, length) + feed_forward(w, sentences * length);
  };
  const double of_source = alone(source) + attention(w, sentences, target, source);
  const double layers = alone(target) + (reads_source(model.family) ? of_source : 0);
  const auto predicted = static_cast<double>(predicted_pieces(model.family, batch.target_length));
  return static_cast<double>(model.N) * layers +
         product(sentences * predicted, w.d_model, static_cast<double>(model.V));
}

double training_flops(const ModelConfig& model, const BatchShape& batch) {
  return 3 * forward_flops(model, batch);
}

double step_flops(const ModelConfig& model, int64_t rows, int64_t written, int64_t source_length) {
  const Widths w(model);
  const auto queries = static_cast<double>(rows);
  const auto look = [&](int64_t keys) {
    return product(queries, w.q, static_cast<double>(keys)) +
           product(queries, static_cast<double>(keys), w.o) + product(queries, w.o, w.d_model);
  };
  const double cross = product(queries, w.d_model, w.q) + look(source_length);
  const double layer = product(queries, w.d_model, w.q + w.k + w.v) + look(written + 1) +
                       (reads_source(model.family) ? cross : 0) + feed_forward(w, queries);
  return static_cast<double>(model.N) * layer +
         product(queries, w.d_model, static_cast<double>(model.V));
}

}  // namespace transformer
