#pragma once

// One training on many devices: a process, or rank, has one device, the whole model, and a share of
// every batch (data/share.h). Gradients are summed over the ranks in PyTorch's own engine, c10d, by
// its Reducer: in buckets, each as soon as its gradients are there, while the rest of the backward
// pass goes on. Gloo carries them between CPUs, NCCL between GPUs where it was found when the
// program was built, else Gloo too.

#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transformer/train/rendezvous.h"

namespace transformer {

class RanksGroup;

// All ranks of one training, as this one sees them. Each of the functions below that another rank
// has part in is called by all, in the same order. Where a rank dies or hangs they throw Failure
// with the rank and the step; a rank that goes away without leave() counts as one that failed.
class Ranks {
 public:
  Ranks();  // this process alone; nothing below waits then, nor changes what it is given

  // Waits for all to come. A rank that is silent for `timeout`, or that the others wait for so
  // long, has failed. `on_lost` is told of one, from another thread, where this one can't throw for
  // waiting in a device's library. From here on the process ignores SIGPIPE, unless it has a
  // handler of its own. Throws UserError where the program was built without c10d, and Failure
  // where the others don't come.
  Ranks(const Rendezvous& place, const torch::Device& device, std::chrono::seconds timeout,
        const std::function<void(const std::string&)>& on_lost);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int64_t rank() const;  // of this process, from 0
  int64_t size() const;
  bool is_first() const { return rank() == 0; }  // the one that writes and speaks

  void at_step(int64_t step);  // for messages

  // What rank 0 says, to all. The others wait as long as it lives.
  std::string word_of_first(const std::string& text);
  // Rank 0's values, in all ranks' tensors.
  void take_from_first(const std::vector<torch::Tensor>& tensors);

  // From here on backward() sums the gradients of these, which the same order and shapes have in
  // all ranks. They must outlive this.
  void share_gradients(const std::vector<torch::Tensor>& parameters);
  // loss.backward(). At the last one of a step gradients become the sums over all ranks.
  void backward(const torch::Tensor& loss, bool is_last);

  void sum(torch::Tensor& values);
  std::vector<double> sum(const std::vector<double>& values);
  bool any(bool value);

  // Waits until all have come here, as long as they live.
  void meet();
  // The last meeting: from then on none waits for another.
  void leave();

 private:
  std::unique_ptr<RanksGroup> group_;
};

}  // namespace transformer
