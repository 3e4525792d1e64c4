// SPDX-License-Identifier: Apache-2.0
// Pieces of TorchScript text that the element formats share.
#include "formats/script.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/minifloat/reference_log2.hpp"

namespace mase::formats {

std::string script_number(double value) {
  if (std::isinf(value)) return value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  return double_text(value);
}

std::string script_tensor(const std::vector<double>& values, const std::string& dtype) {
  // LibTorch writes large whole numbers in a list without a point and reads them back as integers,
  // so these are written divided by a power of two.
  constexpr double large = 0x1p33, unit = 0x1p96;
  const auto is_large = [](double v) { return std::abs(v) >= large && std::isfinite(v); };
  const auto first = std::ranges::find_if(values, is_large);
  std::vector<std::string> head, tail;
  for (auto value = values.begin(); value != first; ++value) head.push_back(script_number(*value));
  for (auto value = first; value != values.end(); ++value)
    tail.push_back(script_number(*value / unit));
  const auto tensor = [&](const std::vector<std::string>& texts) {
    return "torch.tensor([" + join(texts, ", ") + "], dtype=torch." + dtype + ", device=x.device)";
  };
  if (tail.empty()) return tensor(head);
  const std::string scaled = "torch.mul(" + tensor(tail) + ", " + script_number(unit) + ")";
  return head.empty() ? scaled : "torch.cat([" + tensor(head) + ", " + scaled + "])";
}

std::string script_quotient(const std::string& values, double divisor) {
  return "torch.div(" + values + ", torch.full_like(" + values + ", " + double_text(divisor) + "))";
}

void refuse_stochastic_script(Rounding rounding) {
  if (rounding == Rounding::stochastic)
    unsupported_error(
        "stochastic rounding has no TorchScript form that gives the same numbers; "
        "use rounding 'nearest_even', 'floor' or 'nearest_away' to write a checkpoint");
}

std::string exponent_lines(int from, int to, const std::string& rounds_up) {
  // frexp's exponent is one above ours. It is unspecified for infinity and NaN, so infinity is
  // replaced by 2^200, which is beyond all float32 numbers.
  const std::string low = std::to_string(from + 1), high = std::to_string(to + 1);
  return "  d = x.to(torch.float64)\n"
         "  f, e = torch.frexp(torch.clamp(torch.abs(d), 0.0, " +
         script_number(0x1p200) + "))\n" +
         (rounds_up.empty() ? "" : "  e = torch.add(e, " + rounds_up + ".to(torch.int32))\n") +
         "  e = torch.sub(torch.clamp(e, " + low + ", " + high + "), " + low +
         ").to(torch.int64)\n";
}

std::string reference_power_lines(const std::string& v, float (*round)(float), std::int64_t low,
                                  std::int64_t high) {
  // 2^-150 and smaller powers are 0 in float32, 2^128 and larger ones infinite.
  const int from = static_cast<int>(std::clamp<std::int64_t>(low, -152, 128));
  const int to = static_cast<int>(std::clamp<std::int64_t>(high, from + 1, 129));
  const std::vector<float> changes = reference_log2_thresholds(round, from, to);
  const std::vector<double> thresholds(changes.begin(), changes.end());
  std::vector<double> powers;
  for (int exponent = from; exponent <= to; ++exponent)
    powers.push_back(static_cast<double>(std::ldexp(1.0F, exponent)));
  return "  e = torch.bucketize(" + v + ", " + script_tensor(thresholds, "float32") +
         ", right=True)\n"
         "  p = torch.take(" +
         script_tensor(powers, "float32") + ", e)\n";
}

}  // namespace mase::formats
