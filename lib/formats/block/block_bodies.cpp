// SPDX-License-Identifier: Apache-2.0
// Elements of block_fp, block_minifloat and block_log in TorchScript, profile exact. Tiles `b` and
// their peaks `p` are given (block_torchscript.hpp); the result is `r`.
#include "formats/block/block_bodies.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "formats/block/block_bodies_reference.hpp"
#include "formats/block/block_torchscript.hpp"
#include "formats/script.hpp"

namespace mase::formats {
namespace {

std::string clamped(const std::string& value, const std::string& low, const std::string& high) {
  return "torch.clamp(" + value + ", " + low + ", " + high + ")";
}

std::string clamped(const std::string& value, double limit) {
  return clamped(value, double_text(-limit), double_text(limit));
}

// The scales of tiles whose exponents are two's complement codes; tiles of zeros have 2^0. Float32
// needs only exponents from -150 to 128; wider codes would exceed float64.
std::string signed_scales(ScaleRule rule, const ElementTop& top, int bits) {
  return scales_text(rule, top, 0, clamp_signed(-150, bits), highest_block_exponent(bits), 0);
}

std::string block_fp_text(const BlockFpSpec& spec) {
  return scales_text(spec.scale_rule, spec.top(), 1, spec.lowest_exponent(),
                     spec.highest_exponent(), spec.lowest_exponent()) +
         line_text("s = torch.mul(s, " + power_text(-spec.fraction_bits()) + ")") +
         line_text("y = torch.div(b.to(torch.float64), s)") +
         line_text("y = " + clamped("y", spec.largest_magnitude())) +
         line_text("y = " + rounded_text(spec.rounding, "y")) +
         line_text("r = torch.mul(y, s).to(torch.float32)");
}

// y is scaled so that its top has exponent 0; g has the steps of its grid.
std::string minifloat_text(const BlockMinifloatSpec& spec) {
  const MinifloatSpec element = spec.element(0);
  return signed_scales(spec.scale_rule, spec.top(), spec.exponent_bias_width) +
         line_text("y = torch.div(b.to(torch.float64), s)") +
         line_text("y = " + clamped("y", element.largest())) +
         line_text("g = torch.clamp(torch.abs(y), " + power_text(element.lowest_exponent()) +
                   ", 2.0)") +
         significand_text("g") +
         line_text("g = torch.mul(w, " + power_text(-1 - element.fraction_bits()) + ")") +
         line_text("y = torch.div(y, g)") +
         line_text("y = torch.mul(" + rounded_text(spec.rounding, "y") + ", g)") +
         line_text("r = torch.mul(y, s).to(torch.float32)");
}

// The power above or below the value f * w, where f is its significand and w its power.
std::string nearest_power(const std::string& limit) {
  return "torch.where(torch.gt(f, " + limit + "), w, torch.mul(w, 0.5))";
}

// y is scaled so that its largest power is 1.
std::string log_text(const BlockLogSpec& spec) {
  const std::string half_root = double_text(0x1.6a09e667f3bccp-1);
  const bool floor = spec.rounding == Rounding::floor;
  const int lowest =
      static_cast<int>(std::max<std::int64_t>(spec.element(0).lowest_exponent(), -500));
  const std::string power =
      floor ? "torch.where(torch.lt(y, 0.0), " + nearest_power("0.5") + ", torch.mul(w, 0.5))"
            : nearest_power(half_root);
  const std::string flushed =
      floor ? "torch.logical_and(torch.ge(y, 0.0), torch.lt(y, " + power_text(lowest) + "))"
            : "torch.le(torch.abs(y), " + power_text(lowest - 1) + ")";
  return line_text("s = torch.where(torch.gt(p, 0.0), p, torch.ones_like(p)).to(torch.float64)") +
         significand_text("s") +
         line_text("s = torch.clamp(" + nearest_power(half_root) + ", " +
                   power_text(clamp_signed(-150, spec.exponent_bias_width)) + ", " +
                   power_text(highest_block_exponent(spec.exponent_bias_width)) + ")") +
         line_text("y = torch.div(b.to(torch.float64), s)") +
         line_text("g = torch.clamp(torch.abs(y), " + power_text(lowest) + ", 1.0)") +
         significand_text("g") + line_text("g = torch.copysign(" + power + ", y)") +
         line_text("g = torch.where(" + flushed + ", torch.zeros_like(g), g)") +
         line_text("r = torch.mul(g, s).to(torch.float32)");
}

std::string body(const BlockFields& fields, bool default_skip, int rank,
                 const std::string& elements) {
  refuse_stochastic_script(fields.rounding_value());
  return tiles_text(fields, default_skip, rank) + peaks_text(fields, rank) + elements +
         untiled_text(fields, rank);
}

bool is_reference(const BlockFields& fields) {
  return fields.profile_value() == Profile::reference;
}

}  // namespace

std::string block_fp_torchscript(const BlockFields& fields, const BlockFpSpec& spec,
                                 bool default_skip, int rank) {
  return body(fields, default_skip, rank,
              is_reference(fields)
                  ? reference_block_fp_text(spec, fields.adds_zero(rank, default_skip))
                  : block_fp_text(spec));
}

std::string block_minifloat_torchscript(const BlockFields& fields, const BlockMinifloatSpec& spec,
                                        bool default_skip, int rank) {
  return body(fields, default_skip, rank,
              is_reference(fields)
                  ? reference_block_minifloat_text(spec, fields.adds_zero(rank, default_skip))
                  : minifloat_text(spec));
}

std::string block_log_torchscript(const BlockFields& fields, const BlockLogSpec& spec,
                                  bool default_skip, int rank) {
  return body(fields, default_skip, rank,
              is_reference(fields)
                  ? reference_block_log_text(spec, fields.adds_zero(rank, default_skip))
                  : log_text(spec));
}

}  // namespace mase::formats
