// SPDX-License-Identifier: Apache-2.0
// TorchScript expressions that compute the integer formats with stock operators, bit for bit.
//
// Plain `torch.round` is never used: fusers of some LibTorch builds miscompile it from the second
// call on. `torch.round(x, decimals=0)`, floor and trunc are stable.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/text.hpp"
#include "formats/fixed/channel_fractions.hpp"
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

// The negative of a scale, which is a number or the name of a tensor.
std::string negative_text(const std::string& value) {
  return std::isalpha(static_cast<unsigned char>(value.front())) ? call("neg", {value})
                                                                 : "-" + value;
}

// For f < 0 the product x * 2^f may underflow to -0, whose floor is 0 instead of -1. (For other f
// the condition holds only when the floor is -1 anyway.)
std::string mend_underflow(const ScriptScale& scale, const std::string& x,
                           const std::string& floored) {
  const std::string below_zero =
      call("logical_and", {call("lt", {x, "0.0"}), call("gt", {x, negative_text(scale.step)})});
  return call("masked_fill", {floored, below_zero, "-1.0"});
}

// True exactly where rounding gives the code 0, the only source of -0. (The peephole optimiser
// would remove an addition of 0.0.)
std::string rounds_to_zero(const IntegerSpec& spec, const ScriptScale& scale,
                           const std::string& x) {
  if (spec.rounding == Rounding::floor) return call("eq", {x, "0.0"});
  const char* compare = spec.rounding == Rounding::nearest_even ? "le" : "lt";
  return call(compare, {call("abs", {x}), scale.half_step});
}

}  // namespace

std::string integer_script(const IntegerSpec& spec, const ScriptScale& scale) {
  refuse_stochastic_script(spec.rounding);
  const std::string x = "x";
  const bool exact = spec.profile == Profile::exact;
  std::string code = rounded(spec, x, call("mul", {x, scale.scale}));
  if (exact && spec.rounding == Rounding::floor && scale.below_one)
    code = mend_underflow(scale, x, code);
  // Limits are float32: a code above `high` is at least RN32(high), so the clamp gives RN32(high).
  const std::string low = double_text(static_cast<float>(spec.low()));
  const std::string high = double_text(static_cast<float>(spec.high()));
  const std::string value = call("mul", {call("clamp", {code, low, high}), scale.step});
  return exact ? call("masked_fill", {value, rounds_to_zero(spec, scale, x), "0.0"}) : value;
}

std::string integer_torchscript(const IntegerSpec& spec) {
  const ScriptScale scale{double_text(1.0 / spec.step()), double_text(spec.step()),
                          double_text(spec.step() / 2), spec.frac_width < 0};
  return "  return " + integer_script(spec, scale) + "\n";
}

std::string channels_torchscript(const ChannelGrid& grid, int rank) {
  // 2^f = min(2^f, 1) / min(2^-f, 1) exactly; lists must not have large numbers (script_tensor).
  std::vector<double> up, down;
  for (const int f : grid.frac_widths) {
    up.push_back(std::min(std::ldexp(1.0, f), 1.0));
    down.push_back(std::min(std::ldexp(1.0, -f), 1.0));
  }
  std::string shape = "-1";
  for (int d = 1; d < rank; ++d) shape += ", 1";
  const auto tensor = [&](const std::vector<double>& values) {
    return script_tensor(values, "float32") + ".reshape([" + shape + "])";
  };
  const ScriptScale names{"scale", "step", "half", std::ranges::min(grid.frac_widths) < 0};
  return "  up = " + tensor(up) + "\n  down = " + tensor(down) +
         "\n  scale = torch.div(up, down)\n  step = torch.div(down, up)\n"
         "  half = torch.mul(step, 0.5)\n"
         "  return " +
         integer_script(grid.spec, names) + "\n";
}

}  // namespace mase::formats
