// The straight-through quantizer: format kernel forward, identity backward.
#include "torch_frontend/quantize_op.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

namespace mase::torch_frontend {
namespace {

at::Tensor quantize_values(const at::Tensor& tensor, const formats::Format& format) {
  const at::Tensor in = tensor.contiguous();
  at::Tensor out = at::empty_like(in);
  const auto count = static_cast<std::size_t>(in.numel());
  const auto sizes = in.sizes();
  format.quantize(std::span(static_cast<const float*>(in.data_ptr()), count),
                  std::span(static_cast<float*>(out.data_ptr()), count),
                  Shape(sizes.begin(), sizes.end()));
  return out;
}

/// Saves nothing: the gradient of the output is the gradient of the input.
class StraightThrough : public torch::autograd::Function<StraightThrough> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& tensor,
                            const formats::Format* format) {
    return quantize_values(tensor, *format);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list gradients) {
    return {gradients[0], at::Tensor()};
  }
};

}  // namespace

at::Tensor quantize(const at::Tensor& tensor, const formats::Format& format) {
  if (tensor.scalar_type() != at::kFloat) return tensor;
  if (c10::GradMode::is_enabled() && tensor.requires_grad()) {
    return StraightThrough::apply(tensor, &format);
  }
  return quantize_values(tensor, format);
}

}  // namespace mase::torch_frontend
