// SPDX-License-Identifier: Apache-2.0
// Quantizing a port with LibTorch's tensors as buffers.
#include "torch/train/port_quantizer.hpp"

#include "torch/run/quantize_op.hpp"
#include "torch/train/layers.hpp"

namespace mase::train {

at::Tensor PortQuantizer::forward(const at::Tensor& raw) {
  raw_ = raw.contiguous();
  fit(values_, raw_.sizes());
  libtorch::quantize_into(raw_, *format_, values_);
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
  return !format_->clips_gradient() && !step_gradient_.defined();
}

void PortQuantizer::write_gradient(const at::Tensor& gradient, at::Tensor& into) {
  if (!step_gradient_.defined()) {
    libtorch::clip_gradient(*format_, raw_, gradient, into);
    return;
  }
  const double step = libtorch::step_gradient(*format_, raw_, values_, gradient, into);
  *step_gradient_.data_ptr<float>() = static_cast<float>(step);
}

}  // namespace mase::train
