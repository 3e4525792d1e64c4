// Pieces of TorchScript text that the element formats share.
#include "formats/script.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/mase_log2.hpp"

namespace mase::formats {

std::string script_number(double value) {
  if (std::isinf(value)) return value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  return double_text(value);
}

void refuse_stochastic_script(Rounding rounding) {
  if (rounding == Rounding::stochastic)
    unsupported_error(
        "stochastic rounding has no TorchScript form that gives the same numbers; "
        "use rounding 'nearest_even', 'floor' or 'nearest_away' to write a checkpoint");
}

std::string mase_power_lines(const std::string& v, float (*round)(float), std::int64_t low,
                             std::int64_t high) {
  // 2^-150 and less is 0 in float32, 2^128 and more infinity.
  const int from = static_cast<int>(std::clamp<std::int64_t>(low, -152, 128));
  const int to = static_cast<int>(std::clamp<std::int64_t>(high, from + 1, 129));
  std::vector<std::string> thresholds;
  for (const float threshold : mase_log2_thresholds(round, from, to))
    thresholds.push_back(script_number(static_cast<double>(threshold)));
  return "  e = torch.bucketize(" + v + ", torch.tensor([" + join(thresholds, ", ") +
         "], dtype=torch.float32, device=x.device), right=True)\n"
         "  p = torch.bitwise_left_shift(torch.add(e, " +
         std::to_string(from + 1023) + "), 52).view(torch.float64).to(torch.float32)\n";
}

}  // namespace mase::formats
