#include "transformer/nn/packed.h"

#include <torch/torch.h>

#include "transformer/nn/kernels/kernels.h"

namespace transformer {

Packed pack(const torch::Tensor& ids, int64_t padding) {
  const auto real = ids.ne(padding);
  const auto lengths = real.sum(1).cpu();
  auto starts = std::make_shared<Starts>(1, 0);
  for (int64_t i = 0; i < lengths.size(0); ++i) {
    starts->push_back(starts->back() + lengths.const_data_ptr<int64_t>()[i]);
  }
  const auto places = torch::arange(ids.size(1), ids.options()).expand_as(ids);
  return {ids.masked_select(real), places.masked_select(real), std::move(starts)};
}

bool can_pack(const torch::Tensor& weight) { return has_kernels(weight); }

}  // namespace transformer
