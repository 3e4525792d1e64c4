// SPDX-License-Identifier: Apache-2.0
// Elements of block formats in TorchScript, profile reference: the float32 operations of the
// reference system in their order, with exponents found by thresholds instead of logarithms.
#include "formats/block/block_bodies_reference.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "formats/block/block_torchscript.hpp"
#include "formats/minifloat/reference_log2.hpp"

namespace mase::formats {
namespace {

// Logarithms of positive float32 numbers round to exponents between these two.
constexpr int lowest_logarithm = -150, highest_logarithm = 129;

std::string exact_text(float value) { return double_text(static_cast<double>(value)); }

std::string any_exponent(float (*round)(float), const std::string& values) {
  return reference_exponent_text(round, lowest_logarithm, highest_logarithm, values);
}

std::string sign_of(const std::string& lift) { return "torch.sign(torch.add(b, " + lift + "))"; }

// clamp(rne(scaled), 0, unit - 1) / unit.
std::string fraction(const std::string& scaled, float unit) {
  return "torch.div(torch.clamp(torch.round(" + scaled + ", decimals=0), 0.0, " +
         exact_text(unit - 1.0F) + "), " + exact_text(unit) + ")";
}

// n * r + k * b with k = 1 where |b| is tiny, otherwise 0, and n = 1 - k.
std::string mixed() {
  return line_text("k = torch.le(torch.abs(b), " + exact_text(reference_tiny) +
                   ").to(torch.float32)") +
         line_text("r = torch.add(torch.mul(torch.add(torch.neg(k), 1.0), r), torch.mul(k, b))");
}

// Replaces -0 by +0; an optimiser would remove an addition of 0.0.
std::string zero_added(bool adds_zero) {
  if (!adds_zero) return "";
  return line_text("r = torch.where(torch.eq(r, 0.0), torch.zeros_like(r), r)");
}

// Makes all elements of a tile NaN when its peak is NaN.
std::string spread_nan() { return line_text("r = torch.where(torch.isnan(p), p, r)"); }

// (|b| / w) * unit.
std::string scaled_magnitude(const std::string& magnitude, float unit) {
  return "torch.mul(torch.div(" + magnitude + ", w), " + exact_text(unit) + ")";
}

// The reference's minifloat under the biases `c`.
std::string minifloat_elements(const BlockMinifloatSpec& spec) {
  const int top_code = (1 << spec.exponent_width) - 1;
  const float unit = std::ldexp(1.0F, spec.element(0).mantissa_bits());
  const std::string lifted = "torch.add(torch.abs(b), " + exact_text(reference_epsilon) + ")";
  return line_text("e = " + any_exponent(std::floor, lifted)) +
         line_text("e = torch.minimum(torch.maximum(e, torch.neg(c)), torch.add(torch.neg(c), " +
                   std::to_string(top_code) + "))") +
         line_text("w = " + reference_power_text("e")) +
         line_text("s = " + scaled_magnitude("torch.abs(b)", unit)) +
         line_text("l = torch.mul(" + fraction("torch.div(s, 2.0)", unit) + ", 2.0)") +
         line_text("s = torch.add(" + fraction("torch.sub(s, " + exact_text(unit) + ")", unit) +
                   ", 1.0)") +
         line_text("s = torch.where(torch.eq(e, torch.neg(c)), l, s)") +
         line_text("r = torch.mul(torch.mul(" + sign_of(exact_text(reference_epsilon)) +
                   ", w), s)");
}

}  // namespace

std::string reference_block_fp_text(const BlockFpSpec& spec, bool adds_zero) {
  const float unit = std::ldexp(1.0F, spec.fraction_bits());
  const std::string lifted = "torch.add(torch.abs(b), " + exact_text(reference_epsilon) + ")";
  return line_text("e = torch.clamp(" + any_exponent(std::ceil, "p") + ", " +
                   std::to_string(spec.lowest_exponent()) + ", " +
                   std::to_string(spec.highest_exponent()) + ")") +
         line_text("w = " + reference_power_text("e")) +
         line_text("s = " + fraction(scaled_magnitude(lifted, unit), unit)) +
         line_text("r = torch.mul(torch.mul(" + sign_of(exact_text(reference_epsilon)) +
                   ", w), s)") +
         zero_added(adds_zero) + mixed() + spread_nan();
}

std::string reference_block_minifloat_text(const BlockMinifloatSpec& spec, bool adds_zero) {
  const int highest = (1 << spec.exponent_bias_width) - 1;
  return line_text("c = torch.clamp(" + any_exponent(std::floor, "p") + ", 0, " +
                   std::to_string(highest) + ")") +
         line_text("c = torch.where(torch.isinf(p), torch.full_like(c, " + std::to_string(highest) +
                   "), c)") +
         minifloat_elements(spec) + mixed() + zero_added(adds_zero) + spread_nan();
}

std::string reference_block_log_text(const BlockLogSpec& spec, bool adds_zero) {
  const int top_code = (1 << (spec.width - 1)) - 1;
  const int highest = (1 << spec.exponent_bias_width) - 1;
  return line_text("c = torch.clamp(torch.add(torch.neg(" + any_exponent(std::ceil, "p") + "), " +
                   std::to_string(top_code) + "), 0, " + std::to_string(highest) + ")") +
         line_text("c = torch.where(torch.isinf(p), torch.zeros_like(c), c)") +
         line_text("l = torch.mul(" + reference_power_text("torch.neg(c)") + ", " +
                   exact_text(0.1F) + ")") +
         line_text("e = " + any_exponent(std::nearbyint, "torch.add(torch.abs(b), l)")) +
         line_text("e = torch.minimum(torch.maximum(e, torch.neg(c)), torch.add(torch.neg(c), " +
                   std::to_string(top_code) + "))") +
         line_text("r = torch.mul(" + sign_of("l") + ", " + reference_power_text("e") + ")") +
         zero_added(adds_zero) + spread_nan();
}

}  // namespace mase::formats
