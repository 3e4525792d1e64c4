// SPDX-License-Identifier: Apache-2.0
// Thresholds as codes.
#include "hardware/integer/steps/quantize.hpp"

namespace mase::integer {

void Quantize::take_cast(const Requantise& cast) {
  std::vector<std::int64_t> codes;
  std::vector<bool> begins;  // whether level i + 1 is another one than level i
  for (const std::int64_t level : levels) {
    const auto code = static_cast<std::int64_t>(cast(level));
    const bool other = codes.empty() || code != codes.back();
    if (!codes.empty()) begins.push_back(other);
    if (other) codes.push_back(code);
  }
  std::vector<Wide> kept;
  for (std::size_t i = 0; i < thresholds.size(); ++i)
    if (begins[i % count()]) kept.push_back(thresholds[i]);
  thresholds = std::move(kept);
  levels = std::move(codes);
}

Quantize quantize_step(const Levels& levels, const Interval& range, int frac,
                       std::int64_t divisor) {
  Quantize step{levels.format, {}, {levels.codes.front()}};
  for (std::size_t i = 0; i < levels.thresholds.size(); ++i) {
    const Wide least = levels.thresholds[i].least_code(frac, divisor);
    if (least > range.high) break;
    if (least <= range.low) {  // no code is below it
      step.levels.clear();
      step.thresholds.clear();
    } else {
      step.thresholds.push_back(least);
    }
    step.levels.push_back(levels.codes[i + 1]);
  }
  return step;
}

}  // namespace mase::integer
