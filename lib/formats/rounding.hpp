// SPDX-License-Identifier: Apache-2.0
// Rounding modes and profiles that all formats share (formats.md, sections 1 and 2).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.hpp"

namespace mase::formats {

/// How a real number becomes an integer. Modes act on the signed value.
enum class Rounding : std::uint8_t {
  nearest_even,  ///< nearest, ties to even
  floor,         ///< toward minus infinity, as truncating hardware does
  nearest_away,  ///< nearest, ties away from zero
  stochastic,    ///< floor(v + u), u uniform in [0, 1) on a grid of 2^-24
};

/// One T, such as a kernel, for each rounding.
template <class T>
struct ByRounding {
  T nearest_even, floor, nearest_away;
  std::optional<T> stochastic{};  ///< nullopt when the kernels cannot take random numbers

  const T& operator[](Rounding rounding) const {
    MASE_CHECK(rounding != Rounding::stochastic || stochastic,
               "stochastic rounding has no kernel of this kind");
    if (rounding == Rounding::stochastic) return *stochastic;
    if (rounding == Rounding::floor) return floor;
    return rounding == Rounding::nearest_away ? nearest_away : nearest_even;
  }
};

/// `exact`: real arithmetic and one rounding. `reference`: the reference system's float32
/// operations.
enum class Profile : std::uint8_t { exact, reference };

/// The mode with this name, which a field's `one_of` has already checked.
Rounding rounding_of(std::string_view name);
std::string_view rounding_name(Rounding rounding);
Profile profile_of(std::string_view name);

/// v rounded to an integer; NaN and infinities stay. Only `stochastic` uses `u` in [0, 1).
/// Exact for every v = x * 2^f with a float32 x and |f| <= 126: if v + u is not exact in double,
/// then |v| < 2^-28, so the rounded sum cannot cross the integers next to u.
double round_to_integer(double v, Rounding rounding, double u);

/// The u of element `index`: k / 2^24, where k is the top 24 bits of Philox word number `index` for
/// the key `seed`, so that it depends neither on the thread count nor on the order of evaluation.
double stochastic_offset(std::uint64_t seed, std::uint64_t index);

/// The third counter word of these numbers, which keeps them apart from those of base Random with
/// the same seed.
inline constexpr std::uint32_t rounding_domain = 0x726f756e;

}  // namespace mase::formats
