// SPDX-License-Identifier: Apache-2.0
// What the element formats of profile `reference` share: the float32 logarithm of the reference
// system and its sum for the zeros of a tensor (formats.md, section 4).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace mase::formats {

constexpr float reference_epsilon = 1e-9F;  ///< added before logarithms and signs
constexpr float reference_tiny = 1e-8F;     ///< magnitudes up to here pass through unchanged

/// RN32(log2 v).
float reference_log2(float v);

/// n * q + z * x with z = 1 where |x| <= reference_tiny, else 0, and n = 1 - z: infinities become
/// NaN.
float reference_mix(float x, float q);

/// The float32 values at which round(RN32(log2 v)), for a rounding to integers such as std::floor,
/// becomes low + 1, low + 2, ..., high: entry i is the smallest v >= 0 whose rounded logarithm is
/// at least low + 1 + i; infinity where only that reaches it. So low + (number of entries <= v) is
/// the rounded logarithm clamped to [low, high], without any logarithm.
std::vector<float> reference_log2_thresholds(float (*round)(float), int low, int high);

/// round(RN32(log2 v)) for a rounding to integers, of any v >= 0, without a logarithm: within a
/// binade 2^e <= v < 2^(e + 1) it is e, or e + 1 from a threshold on. Carries make that threshold's
/// fraction overflow into the exponent.
class RoundedLog2 {
 public:
  explicit RoundedLog2(float (*round)(float));

  static constexpr int of_zero = -4096, of_infinity = 4096;  ///< beyond all others
  static constexpr int lowest = -149;                        ///< exponent of the first binade
  static constexpr int lift = 24;  ///< subnormals times 2^lift are normal numbers

  int operator()(float v) const {
    if (v == 0.0F) return of_zero;
    if (v > std::numeric_limits<float>::max()) return of_infinity;
    const Normal normal = Normal::of(v);
    const auto binade = static_cast<std::size_t>(normal.exponent() - lowest);
    return Normal{normal.bits + static_cast<std::uint32_t>(carries_[binade]), normal.less}
        .exponent();
  }
  /// Of the binade lowest + i, then 0 for infinity: what is added to the bits of v. Then entries
  /// `common` .. `window`: a number that does as well for normal v, but for some `window` fractions
  /// from `first` on, as thresholds differ from binade to binade by a few last bits.
  const std::int32_t* carries() const { return carries_.data(); }
  static constexpr std::size_t common = 128 + 149 + 1, first = common + 1, window = first + 1;

 private:
  static constexpr std::uint32_t unit = 1U << 23;

  /// The bits of a positive float32, of a subnormal those of 2^lift times as much, and what their
  /// exponent field is too large by.
  struct Normal {
    std::uint32_t bits;
    int less;

    static Normal of(float v) {
      const auto bits = std::bit_cast<std::uint32_t>(v);
      if (bits >= unit) return {bits, 127};
      return {std::bit_cast<std::uint32_t>(v * 0x1p24F), 127 + lift};
    }
    int exponent() const { return static_cast<int>(bits >> 23) - less; }
  };

  void find_window();

  std::array<std::int32_t, window + 1> carries_{};
};

/// Made once.
const RoundedLog2& floored_log2();
const RoundedLog2& ceiled_log2();
const RoundedLog2& nearest_log2();

}  // namespace mase::formats
