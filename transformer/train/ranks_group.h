#pragma once

#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transformer/train/rendezvous.h"

namespace transformer {

using OnLost = std::function<void(const std::string&)>;

// What Ranks (data_parallel.h) does where there is more than one of them; see there.
class RanksGroup {
 public:
  virtual ~RanksGroup() = default;
  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;
  virtual void at_step(int64_t step) = 0;
  virtual std::string word_of_first(const std::string& text) = 0;
  virtual void take_from_first(std::vector<torch::Tensor> tensors) = 0;
  virtual void share_gradients(const std::vector<torch::Tensor>& parameters) = 0;
  virtual void backward(const torch::Tensor& loss, bool is_last) = 0;
  virtual void sum(torch::Tensor& values) = 0;
  virtual void meet() = 0;
  virtual void leave() = 0;
};

// By c10d, the one file that sees it. Throws UserError where the program was built without.
std::unique_ptr<RanksGroup> connect_ranks(const Rendezvous& place, const torch::Device& device,
                                          std::chrono::milliseconds timeout, const OnLost& on_lost);

}  // namespace transformer
