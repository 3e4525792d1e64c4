// SPDX-License-Identifier: Apache-2.0
// Rounding a multiple of a code by integers: the factors with the fewest bits that give the same
// result for every code.
#pragma once

#include <optional>
#include <vector>

#include "hardware/integer/lowering/exact.hpp"
#include "hardware/integer/program/bounds.hpp"

namespace mase::integer {

/// The number (code * factor + shift) / divisor; the divisor is positive.
struct ExactLine {
  Exact factor, shift = {}, divisor = Exact(1.0);
};

/// How numbers become integers.
struct Steps {
  formats::Rounding rounding = formats::Rounding::nearest_even;
  Wide low = 0, high = 0;  ///< what lies beyond gets the bound
};

/// The number as an integer.
Wide rounded_to(const ExactLine& line, std::int64_t code, const Steps& steps);

/// (code * factor[i] + shift[i]) / (divisor * 2^bits), rounded and clamped to the steps, for lines
/// i.
struct IntegerLines {
  std::vector<std::int64_t> factors;
  std::vector<Wide> shifts;
  int bits = 0;
  std::int64_t divisor = 1;
  formats::Rounding rounding = formats::Rounding::floor;
};

/// Integers that round every code of `codes` on every line as rounded_to() does, with the fewest
/// bits that do. They cut bits off, unless halves that are exact ask for their own rounding, and
/// have a divisor where such halves lie on a fraction like 1/6. A Refusal where they would be too
/// wide, or results too many to check each.
IntegerLines integer_lines(const std::vector<ExactLine>& lines, const Interval& codes,
                           const Steps& steps);

/// The number (code * factor + other code * other + shift) / divisor, of two codes.
struct ExactPlane {
  ExactLine line;
  Exact other;
};

/// (code * factor + other code * other + shift) / 2^bits, rounded and clamped to the steps.
struct IntegerPlane {
  std::int64_t factor = 0, other = 0;
  Wide shift = 0;
  int bits = 0;
  formats::Rounding rounding = formats::Rounding::floor;
};

/// The same of every pair of codes, of which `others` are few; nullopt where they are too many, or
/// no such integers exist.
std::optional<IntegerPlane> integer_plane(const ExactPlane& plane, const Interval& codes,
                                          const Interval& others, const Steps& steps);

}  // namespace mase::integer
