// SPDX-License-Identifier: Apache-2.0
// Gives kernels the memory of tensors.
#include "torch/run/kernel_quantizer.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>

#include "formats/device_kernels.hpp"

namespace mase::libtorch {
namespace {

/// True when LibTorch works on CUDA's default stream, as it does unless it is told otherwise.
bool on_default_stream(const c10::Device& device) {
  constexpr c10::StreamId default_stream = 0;
  return c10::impl::VirtualGuardImpl(c10::kCUDA).getStream(device).id() == default_stream;
}

}  // namespace

bool quantize_by_kernel(const at::Tensor& in, const formats::Format& format, at::Tensor& out) {
  if (!in.is_cuda() || !on_default_stream(in.device())) return false;
  return formats::quantize_on_device(
      format, {in.sizes().begin(), in.sizes().end()},
      {static_cast<const float*>(in.data_ptr()), static_cast<float*>(out.data_ptr()),
       static_cast<std::size_t>(in.numel()), in.device().index()});
}

}  // namespace mase::libtorch
