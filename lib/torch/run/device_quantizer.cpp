// SPDX-License-Identifier: Apache-2.0
// Compiles the TorchScript text of a format once for each rank and device, and runs it.
#include "torch/run/device_quantizer.hpp"

#include <ATen/ops/empty_like.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <map>
#include <mutex>
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

/// The compiled text, which is kept for other tensors of the rank on the device.
jit::Code code_of(const formats::Format& format, const at::Tensor& in) {
  static std::mutex mutex;
  static std::map<std::tuple<std::string, std::int64_t, std::string>, jit::Code> codes;
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = codes.try_emplace({format.text(), in.dim(), in.device().str()});
  if (is_new)
    entry->second = compile_for(in.device(), format.torchscript(static_cast<int>(in.dim())));
  return entry->second;
}

}  // namespace

at::Tensor quantize_by_operators(const at::Tensor& in, const formats::Format& format) {
  format.check({in.sizes().begin(), in.sizes().end()});
  if (in.numel() == 0) return at::empty_like(in);
  return run_code(code_of(format, in), in).contiguous();
}

}  // namespace mase::libtorch
