// TorchScript bodies that compute the format log with stock operators, bit for bit.
//
// Profile exact works on the exponent bits of float64, which has a normal number for every float32.
// Profile mase repeats the reference system's float32 operations, with the exponent from thresholds
// instead of a logarithm.
#include <algorithm>
#include <cmath>

#include "formats/log_spans.hpp"
#include "formats/script.hpp"

namespace mase::formats {
namespace {

// 2^exponent's exponent field in float64. What is beyond float64 is beyond float32 too.
std::string exponent_field(std::int64_t exponent) {
  return std::to_string(std::clamp<std::int64_t>(exponent + 1023, 0, 2046));
}

// Added to a magnitude's bits, carries into the exponent where it rounds up.
std::string round_up(const LogSpec& spec) {
  if (spec.rounding == Rounding::floor)
    return "torch.mul(torch.lt(d, 0.0).to(torch.int64), 4503599627370495)";  // 2^52 - 1
  // The first fraction that rounds up is that of the smallest float32 above sqrt(2).
  return std::to_string(std::int64_t{0x800000 - 0x3504f4} << 29);
}

std::string exact_body(const LogSpec& spec) {
  const double lowest = power_of_two(spec.lowest_exponent());
  const std::string flushed =
      spec.rounding == Rounding::floor
          ? "torch.logical_and(torch.ge(d, 0.0), torch.lt(d, " + script_number(lowest) + "))"
          : "torch.le(a, " +
                script_number(spec.has_zero() ? power_of_two(spec.lowest_exponent() - 1) : 0.0) +
                ")";
  return "  d = x.to(torch.float64)\n"
         "  a = torch.abs(d)\n"
         "  e = torch.bitwise_right_shift(torch.add(a.view(torch.int64), " +
         round_up(spec) +
         "), 52)\n"
         "  e = torch.clamp(e, " +
         exponent_field(spec.lowest_exponent()) + ", " + exponent_field(spec.highest_exponent()) +
         ")\n"
         "  v = torch.copysign(torch.bitwise_left_shift(e, 52).view(torch.float64), d)\n"
         "  v = torch.masked_fill(v, " +
         flushed + ", " + script_number(spec.has_zero() ? 0.0 : lowest) +
         ")\n"
         "  return torch.where(torch.isnan(d), d, v).to(torch.float32)\n";
}

std::string mase_body(const LogSpec& spec) {
  const std::string zeta = script_number(static_cast<double>(log_zeta(spec)));
  return mase_power_lines(
             "torch.add(torch.abs(x), " + zeta + ")", [](float v) { return std::nearbyint(v); },
             spec.lowest_exponent(), spec.highest_exponent()) +
         "  v = torch.mul(torch.sign(torch.add(x, " + zeta +
         ")), p)\n"
         "  return torch.where(torch.isnan(x), x, v)\n";
}

}  // namespace

std::string log_torchscript(const LogSpec& spec) {
  refuse_stochastic_script(spec.rounding);
  return spec.profile == Profile::mase ? mase_body(spec) : exact_body(spec);
}

}  // namespace mase::formats
