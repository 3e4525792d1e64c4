// SPDX-License-Identifier: Apache-2.0
// Common parts of the element formats of profile `reference`: the reference system's float32
// logarithm and its sum for the zeros of a tensor (formats.md, section 4).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace mase::formats {

constexpr float reference_epsilon = 1e-9F;  ///< added before logarithms and signs
constexpr float reference_tiny = 1e-8F;     ///< magnitudes up to this pass through unchanged

/// RN32(log2 v).
float reference_log2(float v);

/// n * q + z * x with z = 1 when |x| <= reference_tiny, otherwise 0, and n = 1 - z; infinities
/// become NaN.
float reference_mix(float x, float q);

/// The float32 values at which round(RN32(log2 v)), for a rounding to integers such as std::floor,
/// becomes low + 1, low + 2, ..., high: entry i is the smallest v >= 0 whose rounded logarithm is
/// at least low + 1 + i, which may be infinity. So low + (number of entries <= v) is the rounded
/// logarithm clamped to [low, high], found without computing a logarithm.
std::vector<float> reference_log2_thresholds(float (*round)(float), int low, int high);

/// round(RN32(log2 v)) for a rounding to integers and any v >= 0, without a logarithm: within a
/// binade 2^e <= v < 2^(e + 1) it is e, or e + 1 from a threshold on. Adding a carry makes the
/// fraction overflow into the exponent from that threshold on.
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
  /// Entry i is added to the bits of v in the binade lowest + i; then follows 0 for infinity. Entry
  /// `common` serves all normal v, except for `window` fractions from `first` on (entries, too),
  /// since thresholds differ from binade to binade by a few last bits.
  const std::int32_t* carries() const { return carries_.data(); }
  static constexpr std::size_t common = 128 + 149 + 1, first = common + 1, window = first + 1;

 private:
  static constexpr std::uint32_t unit = 1U << 23;

  /// The bits of a positive float32 (of a subnormal, those of 2^lift times the number), and the
  /// amount by which their exponent field is too large.
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

/// The two tables, made once.
const RoundedLog2& floored_log2();
const RoundedLog2& ceiled_log2();
const RoundedLog2& nearest_log2();

}  // namespace mase::formats
