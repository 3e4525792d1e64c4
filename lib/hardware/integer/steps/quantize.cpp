// SPDX-License-Identifier: Apache-2.0
// Thresholds as codes.
#include "hardware/integer/steps/quantize.hpp"

namespace mase::integer {

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
