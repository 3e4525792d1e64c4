// SPDX-License-Identifier: Apache-2.0
// Thresholds of peaks and of shifted elements.
#include "hardware/integer/lowering/block_thresholds.hpp"

#include <algorithm>

namespace mase::integer {

BlockScales scales_within(const BlockLevels& blocks, const FixedType& type, std::int64_t divisor) {
  const Wide most = std::max<Wide>(-type.low(), type.high());
  BlockScales found{{blocks.least}, {}};
  for (int scale = blocks.least + 1; scale <= blocks.greatest; ++scale) {
    const Wide code = blocks.turn(scale).least_code(type.frac, divisor);
    if (code > most) break;
    // Every block but those of zeros, or every one that has reached the scale below, too.
    const bool replaces = found.reached.empty() ? code <= 1 : code == found.reached.back();
    if (replaces) {
      found.numbers.back() = scale;
    } else {
      found.numbers.push_back(scale);
      found.reached.push_back(code);
    }
  }
  return found;
}

namespace {

/// By how many places codes can be shifted so that the rest still tells those that are at least
/// `least`: as far as it, or the code below it, is whole.
int places_for(Wide least) {
  const Wide even = least % 2 == 0 ? least : least - 1;
  int places = 0;
  while (places < stream_bits && (even >> places) % 2 == 0) ++places;
  return places;
}

/// The least of the shifted codes, with the bit of the rest below.
Wide shifted_code(Wide least, int places) {
  const bool whole = ((least >> places) << places) == least;
  return whole ? 2 * (least >> places) : 2 * ((least - 1) >> places) + 1;
}

}  // namespace

ShiftedThresholds::ShiftedThresholds(const BlockLevels& levels, int frac, std::int64_t divisor)
    : levels_(levels), places_(stream_bits) {
  for (const MantissaLevels& one : levels.mantissas) {
    std::vector<Wide>& reached = reached_.emplace_back();
    for (const Threshold& threshold : one.elements.thresholds)
      reached.push_back(threshold.least_code(frac, divisor));
    for (const Wide least : reached) places_ = std::min(places_, places_for(least));
  }
  for (std::vector<Wide>& reached : reached_)
    for (Wide& code : reached) code = shifted_code(code, places_);
}

Interval ShiftedThresholds::deciding(const Interval& range) const {
  Interval around{range.high, range.low};
  for (const std::vector<Wide>& reached : reached_)
    around = hull(around, {reached.front() - 1, reached.back()});
  return {std::max(range.low, around.low), std::min(range.high, around.high)};
}

Quantize ShiftedThresholds::search(const std::vector<Part>& parts, const Interval& range) const {
  Quantize step{levels_.format.text(), {}, {}};
  for (const auto& [mantissa, place, factor] : parts) {
    const std::vector<Wide>& reached = reached_[at(mantissa)];
    const Codes& levels = levels_.mantissas[at(mantissa)].elements.codes;
    const auto from = std::ranges::upper_bound(reached, range.low) - reached.begin();
    const auto to = std::ranges::upper_bound(reached, range.high) - reached.begin();
    if (!step.levels.empty()) step.thresholds.push_back(place + range.low);
    for (auto i = from; i < to; ++i) step.thresholds.push_back(place + reached[at(i)]);
    for (auto i = from; i <= to; ++i) step.levels.push_back(levels[at(i)] / factor);
  }
  return step;
}

}  // namespace mase::integer
