// SPDX-License-Identifier: Apache-2.0
// Blocks on streams against the values of other packages: the golden cases of the OCP formats,
// which torchao, microxcaling and gfloat were compared with, rounded by steps.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "formats/golden_case.hpp"
#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;

namespace {

/// A number is the sum of two inputs, its places down to 2^-coarse and those below.
constexpr int coarse = 12, fine = 43;

bool fits(const Array& numbers) {
  return std::ranges::all_of(numbers.span<float>(), [](float number) {
    const double places = std::ldexp(static_cast<double>(number), fine);
    return std::abs(number) < 0x1p11F && places == std::trunc(places);
  });
}

Array coarse_part(const Array& numbers) {
  Array part(DType::float32, numbers.shape());
  std::ranges::transform(
      numbers.span<float>(), part.mutable_span<float>().begin(),
      [](float number) { return std::ldexp(std::trunc(std::ldexp(number, coarse)), -coarse); });
  return part;
}

Array difference(const Array& a, const Array& b) {
  Array part(DType::float32, a.shape());
  std::ranges::transform(a.span<float>(), b.span<float>(), part.mutable_span<float>().begin(),
                         std::minus<>());
  return part;
}

/// Data cannot have the scale of a whole tensor.
bool has_one_level(const formats::GoldenCase& golden) {
  const Tree* rule = golden.params.find("tensor_scale_rule");
  return !rule || *rule == Tree("none");
}

/// The case's format with no other exponents than its blocks have, where they may be bounded.
std::string format_text(const formats::GoldenCase& golden) {
  if (golden.format == "nvfp4") return formats::golden_format(golden)->text();
  const auto [least, greatest] = std::ranges::minmax(golden.scales->span<std::uint8_t>());
  std::string text = formats::golden_format(golden)->text();
  REQUIRE(text.back() == ')');
  text.pop_back();
  return text + ", exponent_min=" + std::to_string(int{least} - 127) +
         ", exponent_max=" + std::to_string(int{greatest} - 127) + ")";
}

/// The negated numbers that the steps in front of a negation make of the case's input.
Array negated_by_steps(const formats::GoldenCase& golden, const std::string& format) {
  const Shape& shape = golden.input.shape();
  const auto places = [](int width, int frac) {
    return "integer(" + std::to_string(width) + ", " + std::to_string(frac) + ")";
  };
  Sketch sketch;
  const auto a = sketch.input(shape, {{"data_out", places(24, coarse)}}),
             b = sketch.input(shape, {{"data_out", places(32, fine)}});
  const auto x = sketch.call("aten::add.Tensor", {{"self", ref(a)}, {"other", ref(b)}}, shape);
  const auto y = sketch.call("aten::neg", {{"self", ref(x)}}, shape, {{"data_in", format}});
  const integer::Program program = integer::lower(sketch.finish(y));
  const Array first = coarse_part(golden.input);
  const std::vector<integer::Codes> inputs{
      integer::encode_input(program, 0, first),
      integer::encode_input(program, 1, difference(golden.input, first))};
  const integer::Codes codes = integer::Interpreter(program).run(inputs, shape[0]).at(0);
  return integer::decode_output(program, 0, codes, shape[0]);
}

}  // namespace

TEST_CASE("blocks on streams have the values that other packages give") {
  int cases = 0, with_mantissas = 0;
  for (const formats::GoldenCase& golden : formats::golden_cases()) {
    const bool mantissas = golden.format == "nvfp4" && has_one_level(golden);
    const bool blocks = golden.format == "mxfp" || golden.format == "mxint" || mantissas;
    if (golden.profile != "ocp" || !blocks || !golden.scales || !fits(golden.input)) continue;
    const std::string format = format_text(golden);
    INFO(golden.id << " in " << format);
    const Array result = negated_by_steps(golden, format);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < result.span<float>().size(); ++i)
      wrong += -result.span<float>()[i] != golden.output.span<float>()[i];
    CHECK(wrong == 0);
    ++cases;
    with_mantissas += mantissas ? 1 : 0;
  }
  CHECK(cases >= 20);
  CHECK(with_mantissas >= 1);
}
