// SPDX-License-Identifier: Apache-2.0
// The kernels for GPUs as CUDA runs them, where there is a GPU; test_formats runs their text on the
// processor.
#include "torch/run/kernel_quantizer.hpp"

#include <ATen/Context.h>
#include <ATen/ops/empty_like.h>

#include "formats/device_kernels.hpp"
#include "formats/golden_case.hpp"
#include "support/format_samples.hpp"
#include "torch/catch.hpp"
#include "torch/run/quantize_op.hpp"
#include "torch/run/tensors.hpp"

using namespace mase;
using namespace mase::test;

namespace {

/// True when kernels can run; otherwise says why the rest of a test is left out.
bool can_run() {
  if (at::hasCUDA() && formats::device_kernels()) return true;
  WARN("left out: LibTorch has no GPU here, or the program was built without CUDA's compiler");
  return false;
}

std::size_t differing_bits(const at::Tensor& found, const at::Tensor& expected) {
  const at::Tensor same = found.view(at::kInt).eq(expected.view(at::kInt));
  const at::Tensor both_nan = found.isnan().logical_and(expected.isnan());
  return static_cast<std::size_t>(
      same.logical_or(both_nan).logical_not().sum().item<std::int64_t>());
}

/// Compares with the processor; returns false when the format has no kernel.
bool check_on_gpu(const formats::Format& format, const Array& values) {
  const at::Tensor x = libtorch::copy_of(values), on_gpu = x.to(at::kCUDA);
  at::Tensor expected = at::empty_like(x), found = at::empty_like(on_gpu);
  if (!libtorch::quantize_by_kernel(on_gpu, format, found)) return false;
  libtorch::quantize_into(x, format, expected);
  CHECK(differing_bits(found.cpu(), expected) == 0);
  return true;
}

}  // namespace

TEST_CASE("kernels for GPUs leave tensors of the CPU alone") {
  const at::Tensor x = libtorch::copy_of(adversarial({33}, 1, true));
  at::Tensor out = at::empty_like(x);
  CHECK_FALSE(libtorch::quantize_by_kernel(x, formats::parse_format("integer(8, 4)"), out));
}

TEST_CASE("on a GPU, kernels give the golden cases the CPU's bits", "[gpu]") {
  if (!can_run()) return;
  std::size_t cases = 0;
  for (const formats::GoldenCase& golden : formats::golden_cases()) {
    INFO(golden.id);
    const auto format = formats::golden_format(golden);
    if (format && golden.input.dtype() == DType::float32)
      cases += check_on_gpu(*format, golden.input);
  }
  CHECK(cases >= 100);
}

TEST_CASE("on a GPU, kernels give every format that has one the CPU's bits", "[gpu]") {
  if (!can_run()) return;
  for (const std::string& text : format_samples()) {
    INFO(text);
    for (const Shape& shape : {Shape{1}, Shape{0}, Shape{7, 33}, Shape{129, 1024}})
      check_on_gpu(formats::parse_format(text), adversarial(shape, 3, true));
  }
}

TEST_CASE("on a GPU, kernels read parts of tensors that begin anywhere", "[gpu]") {
  if (!can_run()) return;
  const at::Tensor x = libtorch::copy_of(adversarial({4099}, 4, true));
  for (const char* text : {"integer(8, 4)", "fp8_e4m3(rounding=stochastic, seed=7)"})
    for (const std::int64_t first : {0, 1, 2, 3, 4}) {
      const formats::Format format = formats::parse_format(text);
      const at::Tensor part = x.narrow(0, first, 4000).contiguous();
      const at::Tensor on_gpu = x.to(at::kCUDA).narrow(0, first, 4000);
      at::Tensor expected = at::empty_like(part), found = at::empty_like(on_gpu);
      CHECK(libtorch::quantize_by_kernel(on_gpu, format, found));
      libtorch::quantize_into(part, format, expected);
      CHECK(differing_bits(found.cpu(), expected) == 0);
    }
}
