// SPDX-License-Identifier: Apache-2.0
// TorchScript bodies that compute the format log with stock operators, bit for bit.
//
// Profile exact looks powers up by the exponent of float64, which has a normal number for every
// float32. Profile reference repeats the reference system's float32 operations, with the exponent
// from thresholds instead of a logarithm.
#include <algorithm>
#include <cmath>

#include "formats/minifloat/log_spans.hpp"
#include "formats/script.hpp"

namespace mase::formats {
namespace {

// The condition that the magnitude f * 2^e rounds up to the next power of two.
std::string rounds_up(const LogSpec& spec) {
  if (spec.rounding == Rounding::floor)
    return "torch.logical_and(torch.lt(d, 0.0), torch.gt(f, 0.5))";
  return "torch.gt(f, 0.7071067811865475)";  // the largest double below 1 / sqrt(2)
}

// The condition that x becomes zero, or the smallest positive value.
std::string flushed(const LogSpec& spec) {
  const std::int64_t lowest = spec.lowest_exponent();
  if (spec.rounding != Rounding::floor)
    return "torch.le(torch.abs(d), " +
           script_number(spec.has_zero() ? power_of_two(lowest - 1) : 0.0) + ")";
  // When the power is 0 in float64, any limit above 0 will do.
  return "torch.logical_and(torch.ge(d, 0.0), torch.lt(d, " +
         script_number(std::max(power_of_two(lowest), 0x1p-1000)) + "))";
}

std::string exact_body(const LogSpec& spec) {
  // 2^-150 and smaller powers are 0 in float32, 2^128 and larger ones infinite.
  const int from = static_cast<int>(std::clamp<std::int64_t>(spec.lowest_exponent(), -152, 129));
  const int to = static_cast<int>(std::clamp<std::int64_t>(spec.highest_exponent(), from, 129));
  std::vector<double> powers;
  for (int exponent = from; exponent <= to; ++exponent) powers.push_back(power_of_two(exponent));
  const double below = spec.has_zero() ? 0.0 : power_of_two(spec.lowest_exponent());
  return exponent_lines(from, to, rounds_up(spec)) + "  v = torch.copysign(torch.take(" +
         script_tensor(powers, "float64") + ", e), d)\n" + "  v = torch.masked_fill(v, " +
         flushed(spec) + ", " + script_number(below) +
         ")\n"
         "  return torch.where(torch.isnan(d), d, v).to(torch.float32)\n";
}

std::string reference_body(const LogSpec& spec) {
  const std::string zeta = script_number(static_cast<double>(log_zeta(spec)));
  return reference_power_lines(
             "torch.add(torch.abs(x), " + zeta + ")", [](float v) { return std::nearbyint(v); },
             spec.lowest_exponent(), spec.highest_exponent()) +
         "  v = torch.mul(torch.sign(torch.add(x, " + zeta +
         ")), p)\n"
         "  return torch.where(torch.isnan(x), x, v)\n";
}

}  // namespace

std::string log_torchscript(const LogSpec& spec) {
  refuse_stochastic_script(spec.rounding);
  return spec.profile == Profile::reference ? reference_body(spec) : exact_body(spec);
}

}  // namespace mase::formats
