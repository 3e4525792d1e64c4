// SPDX-License-Identifier: Apache-2.0
// Quantizes a port with LibTorch's tensors as buffers.
#include "torch/train/port_quantizer.hpp"

#include "torch/run/quantize_op.hpp"
#include "torch/train/layers.hpp"

namespace mase::train {

at::Tensor PortQuantizer::forward(const at::Tensor& raw) {
  raw_ = raw.contiguous();
  fit(values_, raw_.sizes());
  libtorch::quantize_into(
      raw_, source_.rounding->at(*source_.format, source_.place, source_.what, sizes_of(raw_)),
      values_);
  return values_;
}

at::Tensor PortQuantizer::backward(const at::Tensor& gradient) {
  if (passes_gradient()) return gradient;
  fit(gradient_, gradient.sizes());
  write_gradient(gradient.contiguous(), gradient_);
  return gradient_;
}

void PortQuantizer::backward_in_place(at::Tensor& gradient) {
  if (!passes_gradient()) write_gradient(gradient, gradient);
}

bool PortQuantizer::passes_gradient() const {
  return !source_.format->clips_gradient() && !learns() && !source_.rounding->gradient;
}

void PortQuantizer::write_gradient(const at::Tensor& gradient, at::Tensor& into) {
  const std::optional<formats::Format>& rounded = source_.rounding->gradient;
  if (rounded)
    libtorch::quantize_gradient_into(
        gradient,
        source_.rounding->at(*rounded, source_.place, libtorch::Rounded::gradient,
                             sizes_of(gradient)),
        into);
  const at::Tensor& from = rounded ? into : gradient;
  if (learns())
    *source_.step_gradient.data_ptr<float>() =
        static_cast<float>(libtorch::step_gradient(*source_.format, raw_, values_, from, into));
  else if (source_.format->clips_gradient())
    libtorch::clip_gradient(*source_.format, raw_, from, into);
}

libtorch::RoundedSizes PortQuantizer::sizes_of(const at::Tensor& values) const {
  if (source_.what != libtorch::Rounded::data) return {};
  return values.sizes();
}

}  // namespace mase::train
