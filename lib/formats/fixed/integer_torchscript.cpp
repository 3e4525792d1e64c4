// SPDX-License-Identifier: Apache-2.0
// TorchScript expressions that compute the integer formats with stock operators, bit for bit.
//
// Plain `torch.round` is never used: fusers of some LibTorch builds miscompile it from the second
// call on. `torch.round(x, decimals=0)`, floor and trunc are stable.
#include "base/text.hpp"
#include "formats/fixed/integer_spans.hpp"
#include "formats/script.hpp"

namespace mase::formats {
namespace {

std::string call(std::string_view name, const std::vector<std::string>& arguments) {
  return "torch." + std::string(name) + "(" + join(arguments, ", ") + ")";
}

// The largest float32 below 1/2. trunc(v + sign(v) * half_below) rounds ties away: 1/2 + half_below
// is a tie that rounds to 1, while for every smaller |v| the sum stays below 1.
constexpr double half_below = 0x1.fffffep-2;

std::string rounded(const IntegerSpec& spec, const std::string& x, const std::string& scaled) {
  if (spec.rounding == Rounding::floor) return call("floor", {scaled});
  if (spec.rounding == Rounding::nearest_even) return call("round", {scaled, "decimals=0"});
  return call("trunc",
              {call("add", {scaled, call("sign", {x}), "alpha=" + double_text(half_below)})});
}

// For f < 0 the product x * 2^f may underflow to -0, whose floor is 0 and not -1.
std::string mend_underflow(const IntegerSpec& spec, const std::string& x,
                           const std::string& floored) {
  const std::string below_zero =
      call("logical_and", {call("lt", {x, "0.0"}), call("gt", {x, double_text(-spec.step())})});
  return call("masked_fill", {floored, below_zero, "-1.0"});
}

// True exactly where the code is 0 by rounding, the only place where -0 can come from. (Adding 0.0
// instead would be removed by the peephole optimiser.)
std::string rounds_to_zero(const IntegerSpec& spec, const std::string& x) {
  const std::string half_step = double_text(spec.step() / 2);
  if (spec.rounding == Rounding::floor) return call("eq", {x, "0.0"});
  const char* compare = spec.rounding == Rounding::nearest_even ? "le" : "lt";
  return call(compare, {call("abs", {x}), half_step});
}

}  // namespace

std::string integer_torchscript(const IntegerSpec& spec) {
  refuse_stochastic_script(spec.rounding);
  const std::string x = "x";
  const bool exact = spec.profile == Profile::exact;
  std::string code = rounded(spec, x, call("mul", {x, double_text(1.0 / spec.step())}));
  if (exact && spec.rounding == Rounding::floor && spec.frac_width < 0)
    code = mend_underflow(spec, x, code);
  // As float32 limits: a code above `high` is at least RN32(high), so this clamp gives RN32(high).
  const std::string low = double_text(static_cast<float>(spec.low()));
  const std::string high = double_text(static_cast<float>(spec.high()));
  const std::string value =
      call("mul", {call("clamp", {code, low, high}), double_text(spec.step())});
  return "  return " +
         (exact ? call("masked_fill", {value, rounds_to_zero(spec, x), "0.0"}) : value) + "\n";
}

}  // namespace mase::formats
