// TorchScript bodies that compute the minifloats with stock operators, bit for bit.
//
// Profile exact computes in float64, where scaling by the grid's step is exact and only the
// rounding rounds; steps are built from exponent bits. Profile mase repeats the reference system's
// float32 operations, with the exponent from thresholds instead of a logarithm. Plain `torch.round`
// is never used: fusers of some LibTorch builds miscompile it from the second call on.
#include <cmath>

#include "formats/mase_log2.hpp"
#include "formats/minifloat_spans.hpp"
#include "formats/script.hpp"

namespace mase::formats {
namespace {

std::string rounded(Rounding rounding, const std::string& v) {
  if (rounding == Rounding::floor) return "torch.floor(" + v + ")";
  if (rounding == Rounding::nearest_even) return "torch.round(" + v + ", decimals=0)";
  // Exact in float64 for the 24 bits of a float32, or below 1/2 in any case.
  return "torch.trunc(torch.add(" + v + ", torch.sign(" + v + "), alpha=0.5))";
}

// What is beyond the largest value. The sign comes later.
std::string overflowed(const MinifloatSpec& spec) {
  const std::string largest = script_number(spec.largest());
  if (spec.saturate || spec.specials == Specials::none)
    return "torch.clamp(torch.abs(v), 0.0, " + largest + ")";
  const std::string special = spec.specials == Specials::ieee ? "inf" : "nan";
  return "torch.masked_fill(torch.abs(v), torch.gt(torch.abs(v), " + largest + "), float(\"" +
         special + "\"))";
}

std::string exact_body(const MinifloatSpec& spec) {
  constexpr int double_bias = 1023;
  const std::string low = std::to_string(spec.lowest_exponent() + double_bias);
  const std::string high = std::to_string(spec.top_exponent() + 1 + double_bias);
  return "  d = x.to(torch.float64)\n"
         "  e = torch.bitwise_right_shift(torch.abs(d).view(torch.int64), 52)\n"
         "  e = torch.sub(torch.clamp(e, " +
         low + ", " + high + "), " + std::to_string(spec.fraction_bits()) +
         ")\n"
         "  step = torch.bitwise_left_shift(e, 52).view(torch.float64)\n"
         "  v = torch.div(d, step)\n"
         "  v = torch.mul(" +
         rounded(spec.rounding, "v") +
         ", step)\n"
         "  return torch.copysign(" +
         overflowed(spec) + ", d).to(torch.float32)\n";
}

// clamp(rne(scaled), 0, 2^m - 1) / 2^m
std::string mase_fraction(const std::string& scaled, double unit) {
  return "torch.div(torch.clamp(torch.round(" + scaled + ", decimals=0), 0.0, " +
         script_number(unit - 1.0) + "), " + script_number(unit) + ")";
}

std::string mase_significand(const MinifloatSpec& spec, double unit) {
  if (!spec.hidden_bit) return mase_fraction("m", unit);
  const std::string units = script_number(unit);
  return "torch.where(torch.eq(e, 0), torch.mul(" + mase_fraction("torch.div(m, 2.0)", unit) +
         ", 2.0), torch.add(" + mase_fraction("torch.sub(m, " + units + ")", unit) + ", 1.0))";
}

std::string mase_body(const MinifloatSpec& spec) {
  const double unit = std::ldexp(1.0, spec.mantissa_bits());
  const std::string epsilon = script_number(static_cast<double>(mase_epsilon));
  const int low = -spec.exponent_bias;
  float (*const round)(float) = spec.hidden_bit ? [](float v) { return std::floor(v); }
                                                : [](float v) { return std::ceil(v); };
  return "  a = torch.abs(x)\n" +
         mase_power_lines("torch.add(a, " + epsilon + ")", round, low,
                          low + (1 << spec.exponent_width) - 1) +
         "  m = torch.mul(torch.div(a, p), " + script_number(unit) +
         ")\n"
         "  s = " +
         mase_significand(spec, unit) +
         "\n"
         "  v = torch.mul(torch.mul(torch.sign(torch.add(x, " +
         epsilon +
         ")), p), s)\n"
         "  z = torch.le(a, " +
         script_number(static_cast<double>(mase_tiny)) +
         ").to(torch.float32)\n"
         "  return torch.add(torch.mul(torch.rsub(z, 1.0), v), torch.mul(z, x))\n";
}

}  // namespace

std::string minifloat_torchscript(const MinifloatSpec& spec) {
  refuse_stochastic_script(spec.rounding);
  return spec.profile == Profile::mase ? mase_body(spec) : exact_body(spec);
}

}  // namespace mase::formats
