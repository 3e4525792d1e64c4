// SPDX-License-Identifier: Apache-2.0
// Formats by operators compute the bits of the kernels: on the CPU, where the operators are asked
// for by name, and on a GPU where there is one.
#include "torch/run/device_quantizer.hpp"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>

#include "base/error.hpp"
#include "formats/golden_case.hpp"
#include "support/format_samples.hpp"
#include "torch/catch.hpp"
#include "torch/run/quantize_op.hpp"
#include "torch/run/tensors.hpp"

using namespace mase;
using namespace mase::test;

namespace {

/// Devices that can be tested here.
std::vector<c10::Device> devices() {
  std::vector<c10::Device> all{c10::kCPU};
  if (at::hasCUDA()) all.emplace_back(c10::kCUDA, 0);
  return all;
}

/// Equal bits, any NaN like any other.
std::size_t wrong_bits(const at::Tensor& found, const at::Tensor& expected) {
  REQUIRE(found.sizes() == expected.sizes());
  const at::Tensor same = found.view(at::kInt).eq(expected.view(at::kInt));
  const at::Tensor both_nan = found.isnan().logical_and(expected.isnan());
  return static_cast<std::size_t>(
      same.logical_or(both_nan).logical_not().sum().item<std::int64_t>());
}

at::Tensor by_kernels(const formats::Format& format, const at::Tensor& x) {
  at::Tensor out = at::empty_like(x);
  libtorch::quantize_into(x, format, out);
  return out;
}

/// The message with which `run` refuses a tensor; empty if it takes it.
template <class Run>
std::string refusal(const Run& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void check_by_operators(const formats::Format& format, const Array& values) {
  const at::Tensor x = libtorch::copy_of(values);
  at::Tensor expected, found;
  const std::string refused = refusal([&] { expected = by_kernels(format, x); });
  for (const c10::Device& device : devices()) {
    INFO(device.str() << ", " << shape_text(values.shape()));
    CHECK(refused ==
          refusal([&] { found = libtorch::quantize_by_operators(x.to(device), format); }));
    if (!refused.empty()) continue;
    CHECK(found.device() == device);
    CHECK(found.is_contiguous());
    CHECK(wrong_bits(found.cpu(), expected) == 0);
  }
}

const std::vector<Shape> sample_shapes{{},        {1},     {33},         {0},
                                       {4, 40},   {3, 5},  {2, 0},       {3, 6, 20},
                                       {2, 1, 9}, {1, 17}, {2, 3, 5, 6}, {1, 4, 3, 3}};

}  // namespace

TEST_CASE("operators give the golden cases the kernels' bits", "[device_formats]") {
  std::size_t cases = 0;
  for (const formats::GoldenCase& golden : formats::golden_cases()) {
    INFO(golden.id);
    const auto format = formats::golden_format(golden);
    if (!format || format->is_stochastic() || golden.input.dtype() != DType::float32) continue;
    check_by_operators(*format, golden.input);
    ++cases;
  }
  CHECK(cases > 600);
}

TEST_CASE("operators give every format the kernels' bits at every rank", "[device_formats]") {
  std::uint64_t seed = 1;
  for (const std::string& text : format_samples()) {
    INFO(text);
    const formats::Format format = formats::parse_format(text);
    for (const Shape& shape : sample_shapes)
      for (const bool specials : {false, true})
        check_by_operators(format, adversarial(shape, ++seed, specials));
  }
}

TEST_CASE("operators give given steps and fractions of channels the kernels' bits",
          "[device_formats]") {
  for (const char* text :
       {"integer(8, 0, granularity=channel, channel_frac_width=[3, -2, 126, -126])",
        "integer_floor(30, 0, granularity=channel, channel_frac_width=[40, 0, -40, 1])",
        "fixed(6, 0, is_signed=false, granularity=channel, channel_frac_width=[1, 2, 3, 4])",
        "scale_integer(5, channel_step=[0.25, 3.0, 0.0009765625, 1048576.0])"}) {
    INFO(text);
    for (const Shape& shape : {Shape{4}, Shape{4, 40}, Shape{4, 2, 5}, Shape{4, 3, 3, 3}})
      check_by_operators(formats::parse_format(text), adversarial(shape, 5, true));
  }
}

TEST_CASE("the gradient of a step by operators has the kernel's bits", "[device_formats]") {
  for (const char* text : {"integer(8, 4)", "integer(4, 2)", "fixed(6, 3, is_signed=false)"})
    for (const Shape& shape : sample_shapes) {
      INFO(text << ", " << shape_text(shape));
      const formats::Format format = formats::parse_format(text);
      const at::Tensor raw = libtorch::copy_of(adversarial(shape, 3, false));
      const at::Tensor gradient = libtorch::copy_of(adversarial(shape, 4, false));
      const at::Tensor quantized = by_kernels(format, raw);
      at::Tensor expected = at::empty_like(raw);
      const double step = libtorch::step_gradient(format, raw, quantized, gradient, expected);
      for (const c10::Device& device : devices()) {
        at::Tensor into = at::empty_like(raw, raw.options().device(device));
        CHECK(step == libtorch::step_gradient_by_operators(
                          format, raw.to(device), quantized.to(device), gradient.to(device), into)
                          .item<double>());
        CHECK(wrong_bits(into.cpu(), expected) == 0);
        at::Tensor same = gradient.to(device, at::kFloat, false, true);  // in place
        libtorch::step_gradient_by_operators(format, raw.to(device), quantized.to(device), same,
                                             same);
        CHECK(wrong_bits(same.cpu(), expected) == 0);
      }
    }
}
