#include "transformer/train/state.h"

#include <torch/torch.h>

#include "transformer/error.h"
#include "transformer/fields.h"

namespace transformer {

State state_of(const torch::nn::Module& module) {
  State state;
  for (const auto& parameter : module.named_parameters()) {
    state[parameter.key()] = parameter.value().detach();
  }
  return state;
}

namespace {

std::string shape(const torch::Tensor& tensor) {
  std::string text;
  for (const int64_t size : tensor.sizes())
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

}  // namespace

void assign(const State& from, State& to, const std::string& where) {
  std::string misfits;
  int64_t count = 0;
  const auto add = [&](const std::string& misfit) {
    constexpr int64_t kShown = 8;
    if (++count <= kShown) misfits += (misfits.empty() ? "" : "; ") + misfit;
  };
  for (const auto& [name, tensor] : to) {
    const auto found = from.find(name);
    if (found == from.end()) {
      add(name + ": missing from the file");
    } else if (tensor.is_floating_point() && !found->second.is_floating_point()) {
      add(name + ": file has whole numbers (" + c10::toString(found->second.scalar_type()) +
          "), which are no weights");
    } else if (found->second.sizes() != tensor.sizes()) {
      add(name + ": file has " + shape(found->second) + ", model has " + shape(tensor));
    }
  }
  for (const auto& [name, tensor] : from) {
    if (!to.contains(name)) add(fields::shown_name(name) + ": not in the model");
  }
  if (count > 0) {
    throw UserError(where + ": does not fit the model (" + std::to_string(count) +
                    " tensors): " + misfits);
  }
  torch::NoGradGuard no_gradient;
  for (auto& [name, tensor] : to) tensor.copy_(from.at(name));
}

}  // namespace transformer
