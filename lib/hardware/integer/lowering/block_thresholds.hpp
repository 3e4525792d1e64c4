// SPDX-License-Identifier: Apache-2.0
// The staircases of a format with blocks as thresholds of a stream's codes.
#pragma once

#include <cstdint>
#include <vector>

#include "hardware/integer/block_levels.hpp"
#include "hardware/integer/program/bounds.hpp"
#include "hardware/integer/steps/quantize.hpp"

namespace mase::integer {

/// The scales that blocks of a stream can have, by their numbers, and what their greatest magnitude
/// reaches for each but the first. Codes are divided by `divisor`.
struct BlockScales {
  std::vector<int> numbers;
  std::vector<Wide> reached;
};
BlockScales scales_within(const BlockLevels& blocks, const FixedType& type, std::int64_t divisor);

/// The thresholds of elements as codes that are shifted to the right by the exponents of their
/// blocks, with a bit below them that tells of a rest.
class ShiftedThresholds {
 public:
  /// Elements have so many fraction bits relative to the greatest exponent.
  ShiftedThresholds(const BlockLevels& levels, int frac, std::int64_t divisor);

  /// How many of these bits decide nothing, at least.
  int places() const { return places_; }
  /// The part of a range in which codes are on different sides of thresholds.
  Interval deciding(const Interval& range) const;
  /// Codes of a range whose blocks have a mantissa stand `place` above where they are, and their
  /// levels are divided by `factor`.
  struct Part {
    int mantissa = 0;
    Wide place = 0;
    std::int64_t factor = 1;
  };
  /// The step that takes codes to those of their levels: the thresholds of the parts, one after the
  /// other.
  Quantize search(const std::vector<Part>& parts, const Interval& range) const;

 private:
  const BlockLevels& levels_;
  int places_;
  std::vector<std::vector<Wide>> reached_;  ///< by mantissa
};

}  // namespace mase::integer
