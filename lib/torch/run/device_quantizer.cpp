// SPDX-License-Identifier: Apache-2.0
// Compiles the TorchScript text of a format once for each rank and device, and runs it.
#include "torch/run/device_quantizer.hpp"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/where.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <map>
#include <mutex>
#include <numbers>
#include <tuple>

#include "base/text.hpp"
#include "torch/run/dtype_numbers.hpp"

namespace mase::libtorch {

namespace jit = torch::jit;

namespace {

/// Compiles a function of `x` with this body. Its tables become constants on the device.
jit::Code compile_for(const c10::Device& device, const std::string& body) {
  const std::string source =
      "def quantize(x):\n" +
      replace_all(with_dtype_numbers(body), "x.device", "torch.device(\"" + device.str() + "\")");
  jit::CompilationUnit unit;
  const auto functions = unit.define({}, source, jit::nativeResolver(), nullptr);
  functions.at(0)->ensure_defined();
  auto graph = jit::toGraphFunction(*functions.at(0)).graph()->copy();
  jit::ConstantPropagation(graph);
  return jit::Code(graph, "quantize");
}

/// The interpreter runs the operators of the text in their order. TorchScript's usual executor
/// would fuse them, and a compiler of fused kernels may contract or approximate them.
at::Tensor run_code(const jit::Code& code, const at::Tensor& x) {
  const c10::NoGradGuard guard;
  jit::Stack stack{x};
  jit::InterpreterState(code).run(stack);
  return stack.at(0).toTensor();
}

/// The compiled text of a format, which is kept for other tensors of the rank on the device.
jit::Code code_of(const formats::Format& format, const at::Tensor& in) {
  static std::mutex mutex;
  static std::map<std::tuple<std::string, std::int64_t, std::string>, jit::Code> codes;
  const std::lock_guard lock(mutex);
  const std::tuple key{format.text(), in.dim(), in.device().str()};
  auto found = codes.find(key);
  if (found == codes.end()) {
    const std::string text = format.torchscript(static_cast<int>(in.dim()));
    found = codes.emplace(key, compile_for(in.device(), text)).first;
  }
  return found->second;
}

/// The same order of additions as on the CPU; a device's own sum has another one.
at::Tensor sum_of_parts(at::Tensor parts) {
  if (parts.numel() == 0) return parts.sum();
  while (parts.numel() > 1) {
    const std::int64_t half = (parts.numel() + 1) / 2, rest = parts.numel() - half;
    parts.narrow(0, 0, rest).add_(parts.narrow(0, half, rest));
    parts = parts.narrow(0, 0, half);
  }
  return parts.squeeze(0);
}

}  // namespace

at::Tensor quantize_by_operators(const at::Tensor& in, const formats::Format& format) {
  format.check({in.sizes().begin(), in.sizes().end()});
  if (in.numel() == 0) return at::empty_like(in);
  return run_code(code_of(format, in), in).contiguous();
}

at::Tensor step_gradient_by_operators(const formats::Format& format, const at::Tensor& raw,
                                      const at::Tensor& quantized, const at::Tensor& gradient,
                                      at::Tensor& into) {
  const formats::Range range = format.range();
  const at::Tensor saturates =
      raw.lt(static_cast<float>(range.low)).logical_or_(raw.gt(static_cast<float>(range.high)));
  const at::Tensor moved = at::where(saturates, quantized, quantized.sub(raw));
  const at::Tensor sum = sum_of_parts(gradient.mul(moved).to(at::kDouble).flatten());
  into.copy_(gradient);
  into.masked_fill_(saturates, 0.0);
  return sum.mul_(std::numbers::ln2);
}

}  // namespace mase::libtorch
