// SPDX-License-Identifier: Apache-2.0
// Inputs of products whose blocks of elements share an exponent.
#pragma once

#include <cstdint>
#include <string>

#include "hardware/integer/program/codes.hpp"

namespace mase::integer {

/// Says that a step's second input has an exponent for every `length` elements of the first: the
/// number i is element[i] * 2^exponent[i / length]. Without a length the elements are the numbers.
struct BlockInput {
  std::int64_t length = 0;
  int most = 0;  ///< the greatest exponent

  explicit operator bool() const { return length > 0; }
  std::string text() const {
    return length > 0 ? "; blocks of " + std::to_string(length) : std::string();
  }

  /// The number i of a frame.
  template <class Frame>
  std::int64_t operator()(const Frame& frame, std::int64_t i) const {
    return length > 0 ? frame.in(0)[i] << frame.in(1)[i / length] : frame.in(0)[i];
  }
};

}  // namespace mase::integer
