// SPDX-License-Identifier: Apache-2.0
// TorchScript bodies that compute the minifloats with stock operators, bit for bit.
//
// Profile exact computes in float64, where scaling by the grid's step is exact and only rounding
// loses bits; steps are looked up by the exponent. Profile reference repeats the reference
// system's float32 operations, with the exponent from thresholds instead of a logarithm. Plain
// `torch.round` is never used: fusers of some LibTorch builds miscompile it from the second call
// on.
#include <algorithm>
#include <cmath>

#include "formats/minifloat/minifloat_spans.hpp"
#include "formats/minifloat/reference_log2.hpp"
#include "formats/script.hpp"

namespace mase::formats {
namespace {

std::string rounded(Rounding rounding, const std::string& v) {
  if (rounding == Rounding::floor) return "torch.floor(" + v + ")";
  if (rounding == Rounding::nearest_even) return "torch.round(" + v + ", decimals=0)";
  // Exact in float64 for the 24 bits of a float32, or below 1/2 in any case.
  return "torch.trunc(torch.add(" + v + ", torch.sign(" + v + "), alpha=0.5))";
}

// Handles magnitudes beyond the largest value; the sign is added later.
std::string overflowed(const MinifloatSpec& spec) {
  const std::string largest = script_number(spec.largest());
  if (spec.saturate || spec.specials == Specials::none)
    return "torch.clamp(torch.abs(v), 0.0, " + largest + ")";
  const std::string special = spec.specials == Specials::ieee ? "inf" : "nan";
  return "torch.masked_fill(torch.abs(v), torch.gt(torch.abs(v), " + largest + "), float(\"" +
         special + "\"))";
}

std::string exact_body(const MinifloatSpec& spec) {
  // A grid whose lowest exponent is above float32 has one step. Beyond the largest value any step
  // up to the last one will do, and for 0 any step at all.
  const bool is_uniform = spec.lowest_exponent() >= 127;
  const int from = is_uniform ? 0 : std::max(spec.lowest_exponent(), -149);
  const int to = is_uniform ? 0 : std::clamp(spec.top_exponent() + 1, from, 127);
  std::vector<double> powers;
  for (int exponent = from; exponent <= to; ++exponent) powers.push_back(std::ldexp(1.0, exponent));
  const int scale = (is_uniform ? spec.lowest_exponent() : 0) - spec.fraction_bits();
  return exponent_lines(from, to) + "  step = torch.mul(torch.take(" +
         script_tensor(powers, "float64") + ", e), " + script_number(std::ldexp(1.0, scale)) +
         ")\n"
         "  v = torch.div(d, step)\n"
         "  v = torch.mul(" +
         rounded(spec.rounding, "v") +
         ", step)\n"
         "  return torch.copysign(" +
         overflowed(spec) + ", d).to(torch.float32)\n";
}

// clamp(rne(scaled), 0, 2^m - 1) / 2^m
std::string reference_fraction(const std::string& scaled, double unit) {
  return "torch.div(torch.clamp(torch.round(" + scaled + ", decimals=0), 0.0, " +
         script_number(unit - 1.0) + "), " + script_number(unit) + ")";
}

std::string reference_significand(const MinifloatSpec& spec, double unit) {
  if (!spec.hidden_bit) return reference_fraction("m", unit);
  const std::string units = script_number(unit);
  return "torch.where(torch.eq(e, 0), torch.mul(" + reference_fraction("torch.div(m, 2.0)", unit) +
         ", 2.0), torch.add(" + reference_fraction("torch.sub(m, " + units + ")", unit) + ", 1.0))";
}

std::string reference_body(const MinifloatSpec& spec) {
  const double unit = std::ldexp(1.0, spec.mantissa_bits());
  const std::string epsilon = script_number(static_cast<double>(reference_epsilon));
  const int low = -spec.exponent_bias;
  float (*const round)(float) = spec.hidden_bit ? [](float v) { return std::floor(v); }
                                                : [](float v) { return std::ceil(v); };
  return "  a = torch.abs(x)\n" +
         reference_power_lines("torch.add(a, " + epsilon + ")", round, low,
                               low + (1 << spec.exponent_width) - 1) +
         "  m = torch.mul(torch.div(a, p), " + script_number(unit) +
         ")\n"
         "  s = " +
         reference_significand(spec, unit) +
         "\n"
         "  v = torch.mul(torch.mul(torch.sign(torch.add(x, " +
         epsilon +
         ")), p), s)\n"
         "  z = torch.le(a, " +
         script_number(static_cast<double>(reference_tiny)) +
         ").to(torch.float32)\n"
         "  return torch.add(torch.mul(torch.rsub(z, 1.0), v), torch.mul(z, x))\n";
}

}  // namespace

std::string minifloat_torchscript(const MinifloatSpec& spec) {
  refuse_stochastic_script(spec.rounding);
  return spec.profile == Profile::reference ? reference_body(spec) : exact_body(spec);
}

}  // namespace mase::formats
