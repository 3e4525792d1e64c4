// SPDX-License-Identifier: Apache-2.0
// The microscaling formats of the reference system for one element of one block, in its float32
// operations (formats.md, section 4). Their parameters are MxSpec's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "formats/microscaling/mx_scalar.hpp"
#include "formats/minifloat/reference_log2.hpp"

namespace mase::formats {

/// mx_block_exponent in profile `reference`, and the exponent that is stored, for many blocks.
class ReferenceMxExponent {
 public:
  explicit ReferenceMxExponent(const MxSpec& spec);

  std::optional<int> of(float p) const {
    if (!(p <= largest_)) return std::nullopt;
    const float magnitude = p < smallest_ ? replaced_ : p;
    return std::clamp(log2_(magnitude) - less_, low_, high_);
  }
  /// The stored exponent; mxint clamps it only here, after the elements have been made.
  int stored(int exponent) const { return std::clamp(exponent, lowest_stored_, highest_stored_); }

 private:
  const RoundedLog2& log2_;
  float largest_;              ///< larger peaks and NaN have no exponent
  float smallest_, replaced_;  ///< replaced_ takes the place of peaks below smallest_
  int less_, low_, high_;
  int lowest_stored_, highest_stored_;
};

/// The same for one block.
std::optional<int> reference_mx_exponent(const MxSpec& spec, float p);
int reference_mx_stored(const MxSpec& spec, int exponent);

/// An element before scaling: an integer M, or the bits of a minifloat code with its sign on top.
/// x must not be NaN.
float reference_mx_integer(const MxSpec& spec, float x, int exponent);
std::uint32_t reference_mx_minifloat(const MxSpec& spec, float x, int exponent);

/// The value of an element under a stored exponent.
float reference_mx_integer_value(const MxSpec& spec, float element, int stored);
float reference_mx_minifloat_value(const MxSpec& spec, std::uint32_t element, int stored);

}  // namespace mase::formats
