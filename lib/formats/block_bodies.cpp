// Elements of block_fp, block_minifloat and block_log in TorchScript, profile exact. Tiles `b` and
// their peaks `p` are there (block_torchscript.hpp); the result is `r`.
#include "formats/block_bodies.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "formats/block_bodies_mase.hpp"
#include "formats/block_torchscript.hpp"

namespace mase::formats {
namespace {

std::string number(std::int64_t value) { return std::to_string(value); }

std::string clamped(const std::string& value, const std::string& low, const std::string& high) {
  return "torch.clamp(" + value + ", " + low + ", " + high + ")";
}

std::string clamped(const std::string& value, double limit) {
  return clamped(value, double_text(-limit), double_text(limit));
}

std::string clamp_exponents(int low, int high) {
  return line_text("e = " + clamped("e", number(low), number(high)));
}

// The exponents of tiles in two's complement codes; tiles of zeros have 0.
std::string signed_exponents(int bits) {
  return clamp_exponents(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) +
         line_text("e = torch.where(torch.eq(p, 0.0), torch.zeros_like(e), e)") +
         // All that float32 peaks need; wider codes would leave float64.
         clamp_exponents(-150, 128);
}

std::string block_fp_text(const BlockFpSpec& spec) {
  const int fraction_bits = spec.fraction_bits();
  const std::string limit = double_text(spec.largest_magnitude());
  return scale_exponents_text(spec.scale_rule, spec.top(), 1) +
         clamp_exponents(spec.lowest_exponent(), spec.highest_exponent()) +
         line_text("y = torch.mul(b.to(torch.float64), " +
                   power_text("torch.add(torch.neg(e), " + number(fraction_bits) + ")") + ")") +
         line_text("y = " + clamped("y", spec.largest_magnitude())) +
         line_text("y = " + rounded_text(spec.rounding, "y")) +
         line_text("r = torch.mul(y, " + power_text("torch.sub(e, " + number(fraction_bits) + ")") +
                   ").to(torch.float32)");
}

// y is scaled to a top of exponent 0; its grid's steps are powers `s`.
std::string minifloat_text(const BlockMinifloatSpec& spec) {
  const MinifloatSpec element = spec.element(0);
  const std::string lowest = number(element.lowest_exponent());
  const std::string fraction_bits = number(element.fraction_bits());
  return scale_exponents_text(spec.scale_rule, spec.top(), 0) +
         signed_exponents(spec.exponent_bias_width) +
         line_text("y = torch.mul(b.to(torch.float64), " + power_text("torch.neg(e)") + ")") +
         line_text("y = " + clamped("y", element.largest())) +
         line_text("s = torch.sub(" + clamped(exponent_text("y"), lowest, "0") + ", " +
                   fraction_bits + ")") +
         line_text("y = torch.mul(y, " + power_text("torch.neg(s)") + ")") +
         line_text("y = torch.mul(" + rounded_text(spec.rounding, "y") + ", " + power_text("s") +
                   ")") +
         line_text("r = torch.mul(y, " + power_text("e") + ").to(torch.float32)");
}

// Powers up to exponent 0. The fraction of the first float32 above sqrt(2) carries.
std::string log_text(const BlockLogSpec& spec) {
  constexpr std::int64_t unit = std::int64_t{1} << 52;
  constexpr std::int64_t round_up = unit - (std::int64_t{0x3504f4} << 29);
  const LogSpec element = spec.element(0);
  const std::int64_t lowest = std::max<std::int64_t>(element.lowest_exponent(), -500);
  const bool floor = spec.rounding == Rounding::floor;
  const auto carried = [](const std::string& values, std::int64_t carry) {
    return "torch.sub(torch.bitwise_right_shift(torch.add(torch.abs(" + values +
           ").view(torch.int64), " + number(carry) + "), 52), 1023)";
  };
  std::string text =
      line_text("e = " + carried("p.to(torch.float64)", round_up)) +
      signed_exponents(spec.exponent_bias_width) +
      line_text("y = torch.mul(b.to(torch.float64), " + power_text("torch.neg(e)") + ")");
  if (floor)
    text += line_text("m = torch.where(torch.lt(y, 0.0), " + carried("y", unit - 1) + ", " +
                      carried("y", 0) + ")");
  else
    text += line_text("m = " + carried("y", round_up));
  text += line_text("m = " + power_text(clamped("m", number(lowest), "0"))) +
          line_text("m = torch.where(torch.isnan(y), y, torch.copysign(m, y))");
  const std::string flushed =
      floor ? "torch.logical_and(torch.ge(y, 0.0), torch.lt(y, " +
                  double_text(power_of_two(lowest)) + "))"
            : "torch.le(torch.abs(y), " + double_text(power_of_two(lowest - 1)) + ")";
  return text + line_text("m = torch.where(" + flushed + ", torch.zeros_like(m), m)") +
         line_text("r = torch.mul(m, " + power_text("e") + ").to(torch.float32)");
}

std::string body(const BlockFields& fields, bool default_skip, int rank,
                 const std::string& elements) {
  refuse_stochastic(fields.rounding_value());
  return tiles_text(fields, default_skip, rank) + peaks_text(fields, rank) + elements +
         untiled_text(fields, rank);
}

bool is_mase(const BlockFields& fields) { return fields.profile_value() == Profile::mase; }

}  // namespace

std::string block_fp_torchscript(const BlockFields& fields, const BlockFpSpec& spec,
                                 bool default_skip, int rank) {
  return body(fields, default_skip, rank,
              is_mase(fields) ? mase_block_fp_text(spec, fields.adds_zero(rank, default_skip))
                              : block_fp_text(spec));
}

std::string block_minifloat_torchscript(const BlockFields& fields, const BlockMinifloatSpec& spec,
                                        bool default_skip, int rank) {
  return body(fields, default_skip, rank,
              is_mase(fields)
                  ? mase_block_minifloat_text(spec, fields.adds_zero(rank, default_skip))
                  : minifloat_text(spec));
}

std::string block_log_torchscript(const BlockFields& fields, const BlockLogSpec& spec,
                                  bool default_skip, int rank) {
  return body(fields, default_skip, rank,
              is_mase(fields) ? mase_block_log_text(spec, fields.adds_zero(rank, default_skip))
                              : log_text(spec));
}

}  // namespace mase::formats
