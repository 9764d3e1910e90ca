#include "transformer/train/precision.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>

#include "transformer/error.h"

namespace transformer {

namespace {

// AVX512-BF16; processors with AMX have it too.
bool cpu_has_bfloat16_products() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") != 0 && at::globalContext().userEnabledMkldnn();
#else
  return false;
#endif
}

}  // namespace

void expect_precision(Precision precision, const torch::Device& device) {
  if (precision == Precision::float32 || !device.is_cpu() || cpu_has_bfloat16_products()) return;
  throw UserError(
      "training.precision: bfloat16 needs a processor that multiplies it (AVX512-BF16 or AMX), "
      "which this one does not; float32 runs everywhere");
}

struct ProductPrecision::Setting {
  torch::DeviceType device;
  at::Float32Precision products{};  // CPU
  bool autocast = false;            // others
  at::ScalarType type{};
};

ProductPrecision::ProductPrecision(Precision precision, const torch::Device& device) {
  expect_precision(precision, device);
  if (precision == Precision::float32) return;
  setting_ = std::make_unique<Setting>();
  setting_->device = device.type();
  if (device.is_cpu()) {
    auto& context = at::globalContext();
    setting_->products =
        context.float32Precision(at::Float32Backend::MKLDNN, at::Float32Op::MATMUL);
    context.setFloat32Precision(at::Float32Backend::MKLDNN, at::Float32Op::MATMUL,
                                at::Float32Precision::BF16);
    return;
  }
  setting_->autocast = at::autocast::is_autocast_enabled(device.type());
  setting_->type = at::autocast::get_autocast_dtype(device.type());
  at::autocast::set_autocast_dtype(device.type(), at::kBFloat16);
  at::autocast::set_autocast_enabled(device.type(), true);
}

ProductPrecision::~ProductPrecision() {
  if (!setting_) return;
  if (setting_->device == torch::kCPU) {
    at::globalContext().setFloat32Precision(at::Float32Backend::MKLDNN, at::Float32Op::MATMUL,
                                            setting_->products);
    return;
  }
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(setting_->device, setting_->autocast);
  at::autocast::set_autocast_dtype(setting_->device, setting_->type);
}

}  // namespace transformer
