// SPDX-License-Identifier: Apache-2.0
// The operators of the pretend device: those that make and look at tensors are its own, all others
// compute copies on the CPU.
#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "pretend_device/memory.hpp"

namespace pretend {
namespace {

using MaybeTensor = std::optional<at::Tensor>;

/// As on other devices, the tensors of an operator must be in one place, apart from numbers.
void require_one_place(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  std::optional<c10::Device> place;
  const auto check = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.dim() == 0) return;
    TORCH_CHECK(!place || *place == tensor.device(),
                "Expected all tensors to be on the same device, but found at least two devices, ",
                place->str(), " and ", tensor.device().str(), "!");
    place = tensor.device();
  };
  const std::string& name = op.schema().name();
  if (name == "aten::index" || name.starts_with("aten::index_put")) return;
  for (const c10::IValue& value : stack) {
    if (value.isTensor()) check(value.toTensor());
    if (value.isTensorList())
      for (const at::Tensor& tensor : value.toTensorVector()) check(tensor);
  }
}

/// PRETEND_DEVICE_LACKS names an operator that the device does not have.
void require_kernel(const c10::OperatorHandle& op) {
  static const char* const lacking = std::getenv("PRETEND_DEVICE_LACKS");
  TORCH_CHECK_NOT_IMPLEMENTED(!lacking || op.schema().name() != lacking, "Could not run '",
                              op.schema().name(), "' on the pretend device");
}

void compute_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  require_kernel(op);
  require_one_place(op, *stack);
  at::native::cpu_fallback(op, stack, true);
}

at::Tensor host(const at::Tensor& tensor) { return tensor.defined() ? tensor.cpu() : tensor; }
MaybeTensor host(const MaybeTensor& tensor) {
  return tensor && tensor->defined() ? MaybeTensor(tensor->cpu()) : std::nullopt;
}
at::Tensor back(const at::Tensor& tensor, const at::Tensor& like) {
  return tensor.defined() ? tensor.to(like.device()) : tensor;
}

at::Tensor empty(c10::IntArrayRef size, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  const c10::DeviceGuard guard(c10::device_or_default(device));
  return at::detail::empty_generic(size, &allocator(),
                                   c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device> device, std::optional<bool>) {
  const c10::DeviceGuard guard(c10::device_or_default(device));
  return at::detail::empty_strided_generic(size, stride, &allocator(),
                                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                           c10::dtype_or_default(dtype));
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  host_view(to).copy_(host_view(from));
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  to.resize_(from.sizes());
  return copy_from(from, to, false);
}

at::Scalar local_scalar_dense(const at::Tensor& tensor) {
  return at::_local_scalar_dense(host_view(tensor));
}

at::Tensor& set_storage(at::Tensor& tensor, c10::Storage storage, std::int64_t offset,
                        c10::IntArrayRef size, c10::IntArrayRef stride) {
  tensor.unsafeGetTensorImpl()->set_storage_keep_dtype(std::move(storage));
  tensor.unsafeGetTensorImpl()->set_storage_offset(offset);
  if (stride.empty() && !size.empty())
    tensor.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  else
    tensor.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride);
  return tensor;
}

at::Tensor convolution(const at::Tensor& input, const at::Tensor& weight, const MaybeTensor& bias,
                       c10::IntArrayRef stride, c10::IntArrayRef padding, c10::IntArrayRef dilation,
                       bool transposed, c10::IntArrayRef output_padding, std::int64_t groups) {
  return back(at::convolution(host(input), host(weight), host(bias), stride, padding, dilation,
                              transposed, output_padding, groups),
              input);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& gradient, const at::Tensor& input, const at::Tensor& weight,
    c10::IntArrayRef stride, c10::IntArrayRef padding, c10::IntArrayRef dilation, bool transposed,
    c10::IntArrayRef output_padding, std::int64_t groups, std::array<bool, 3> wanted) {
  const std::vector<std::int64_t> bias{gradient.size(1)};
  const auto [a, b, c] =
      at::convolution_backward(host(gradient), host(input), host(weight), bias, stride, padding,
                               dilation, transposed, output_padding, groups, wanted);
  return {back(a, input), back(b, input), back(c, input)};
}

/// As on CUDA, a root is rounded correctly. MKL's, which LibTorch takes on the CPU, is not.
at::Tensor square_root(const at::Tensor& tensor) {
  return back(host(tensor).to(at::kDouble).sqrt().to(tensor.scalar_type()), tensor);
}

/// This operator's schema does not say that it changes the running statistics; that of the other
/// does.
std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm(
    const at::Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
    const MaybeTensor& mean, const MaybeTensor& variance, bool training, double momentum,
    double epsilon) {
  if (!mean || !mean->defined())
    return at::_native_batch_norm_legit(input, weight, bias, training, momentum, epsilon);
  at::Tensor running_mean = *mean, running_variance = *variance;
  return at::_native_batch_norm_legit(input, weight, bias, running_mean, running_variance, training,
                                      momentum, epsilon);
}

/// Devices compute the gates of an LSTM in one operator, which the CPU lacks.
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(const at::Tensor& input_gates,
                                                         const at::Tensor& hidden_gates,
                                                         const at::Tensor& cx,
                                                         const MaybeTensor& input_bias,
                                                         const MaybeTensor& hidden_bias) {
  at::Tensor sum = host(input_gates).add(host(hidden_gates));
  for (const MaybeTensor& bias : {host(input_bias), host(hidden_bias)})
    if (bias) sum = sum.add(*bias);
  const std::vector<at::Tensor> gate = sum.chunk(4, 1);
  const at::Tensor in = gate[0].sigmoid(), keep = gate[1].sigmoid(), fresh = gate[2].tanh();
  const at::Tensor out = gate[3].sigmoid(), c = keep * host(cx) + in * fresh;
  return {back(out * c.tanh(), cx), back(c, cx), back(at::cat({in, keep, fresh, out}, 1), cx)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(
    const MaybeTensor& hy_gradient, const MaybeTensor& cy_gradient, const at::Tensor& cx,
    const at::Tensor& cy, const at::Tensor& workspace, bool has_bias) {
  const std::vector<at::Tensor> gate = host(workspace).chunk(4, 1);
  const at::Tensor in = gate[0], keep = gate[1], fresh = gate[2], out = gate[3];
  const at::Tensor squashed = host(cy).tanh();
  const at::Tensor by_h = host(hy_gradient).value_or(at::zeros_like(squashed));
  const at::Tensor by_c =
      by_h * out * (1 - squashed * squashed) + host(cy_gradient).value_or(at::zeros_like(squashed));
  const at::Tensor gates =
      at::cat({by_c * fresh * in * (1 - in), by_c * host(cx) * keep * (1 - keep),
               by_c * in * (1 - fresh * fresh), by_h * squashed * out * (1 - out)},
              1);
  return {back(gates, cx), back(by_c * keep, cx),
          has_bias ? back(gates.sum({0}), cx) : at::Tensor()};
}

}  // namespace

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&compute_on_host>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("resize_", at::native::resize_);
  m.impl("set_.source_Storage_storage_offset", set_storage);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("_local_scalar_dense", local_scalar_dense);
  m.impl("convolution_overrideable", convolution);
  m.impl("convolution_backward_overrideable", convolution_backward);
  m.impl("sqrt", square_root);
  m.impl("native_batch_norm", batch_norm);
  m.impl("_thnn_fused_lstm_cell", lstm_cell);
  m.impl("_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward);
}

}  // namespace pretend
