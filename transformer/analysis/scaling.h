#pragma once

// What a step of data parallel training takes on many devices, from what one device and one
// connection do.

#include <cstdint>

#include "transformer/config.h"

namespace transformer {

struct Cluster {
  double flops_per_second = 0;  // that a device sustains in training
  double bandwidth = 0;         // bytes per second from a device to the next, the slowest link's
  double latency = 0;           // seconds of a message, however short
};

// What each device sends to sum so many bytes over all by the ring all-reduce (Patarasuk and Yuan
// 2009): 2 (n - 1) messages of the n-th part.
double ring_bytes(double bytes, int64_t devices);
double ring_seconds(double bytes, int64_t devices, const Cluster& cluster);

struct ScaledStep {
  double gradient_bytes = 0;     // float32
  double compute_seconds = 0;    // a device's share of the batch, forward and backward
  double reduce_seconds = 0;     // of all gradients, in buckets
  double uncovered_seconds = 0;  // of those, when nothing is computed
  double seconds() const { return compute_seconds + uncovered_seconds; }
};

// A step in which each device has `tokens` source and as many target word-pieces, in sentences of
// 32 (training_flops). The backward pass, two thirds of the computing, covers the all-reduce of
// what is ready, but not that of the embeddings: their gradient ends with the pass. The config is
// resolved and states V.
ScaledStep scaled_step(const ModelConfig& model, double tokens, int64_t devices,
                       const Cluster& cluster);

}  // namespace transformer
