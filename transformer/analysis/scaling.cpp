#include "transformer/analysis/scaling.h"

#include <algorithm>
#include <cmath>

#include "transformer/analysis/flops.h"
#include "transformer/analysis/parameters.h"

namespace transformer {

namespace {

constexpr double kBucketBytes = 25 << 20;  // as training fills them (train/c10d_group.cpp)
constexpr double kFloatBytes = 4;
constexpr int64_t kSentenceLength = 32;

// A latency for each bucket's messages.
double buckets_seconds(double bytes, int64_t devices, const Cluster& cluster) {
  const double buckets = std::max(1.0, std::ceil(bytes / kBucketBytes));
  return buckets * ring_seconds(bytes / buckets, devices, cluster);
}

}  // namespace

double ring_bytes(double bytes, int64_t devices) {
  const auto n = static_cast<double>(devices);
  return 2 * (n - 1) / n * bytes;
}

double ring_seconds(double bytes, int64_t devices, const Cluster& cluster) {
  return ring_bytes(bytes, devices) / cluster.bandwidth +
         2 * static_cast<double>(devices - 1) * cluster.latency;
}

ScaledStep scaled_step(const ModelConfig& model, double tokens, int64_t devices,
                       const Cluster& cluster) {
  const double sentence = training_flops(
      model, {.sentences = 1, .source_length = kSentenceLength, .target_length = kSentenceLength});
  const auto parameters = count_parameters(model);
  ScaledStep step;
  step.gradient_bytes = kFloatBytes * static_cast<double>(parameters.total());
  step.compute_seconds =
      sentence * tokens / static_cast<double>(kSentenceLength) / cluster.flops_per_second;
  step.reduce_seconds = buckets_seconds(step.gradient_bytes, devices, cluster);
  const double backward = 2.0 / 3.0 * step.compute_seconds;
  const double embeddings = kFloatBytes * static_cast<double>(parameters.embedding);
  step.uncovered_seconds =
      std::max(step.reduce_seconds - backward, buckets_seconds(embeddings, devices, cluster));
  return step;
}

}  // namespace transformer
