// SPDX-License-Identifier: Apache-2.0
// Inputs of products whose blocks of elements share a scale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hardware/integer/program/bounds.hpp"
#include "hardware/integer/program/codes.hpp"

namespace mase::integer {

/// Says that a step's second input has a scale for every `length` elements of the first: the number
/// i is element[i] * 2^scale[i / length]. Without a length the elements are the numbers. With
/// `exponent_bits` these low bits of a scale are the exponent, and those above are another factor.
struct BlockInput {
  std::int64_t length = 0;
  int most = 0;  ///< the greatest exponent
  std::optional<int> exponent_bits = std::nullopt;
  std::int64_t most_factor = 1;

  explicit operator bool() const { return length > 0; }
  std::string text() const {
    return length > 0 ? "; blocks of " + std::to_string(length) : std::string();
  }

  std::int64_t number(std::int64_t element, std::int64_t scale) const {
    if (!exponent_bits) return element << scale;
    const std::int64_t exponent = scale & ((std::int64_t{1} << *exponent_bits) - 1);
    return element * (scale >> *exponent_bits) << exponent;
  }
  /// Those that elements within bounds can be.
  Interval numbers(const Interval& elements) const {
    return shifted(product(elements, {0, most_factor}), most);
  }

  /// The number i of a frame.
  template <class Frame>
  std::int64_t operator()(const Frame& frame, std::int64_t i) const {
    return length > 0 ? number(frame.in(0)[i], frame.in(1)[i / length]) : frame.in(0)[i];
  }
};

}  // namespace mase::integer
