// SPDX-License-Identifier: Apache-2.0
// Sobol's sequence with the direction numbers of Joe and Kuo, plain and scrambled.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace mase::samplers {

inline constexpr std::size_t sobol_dimensions = 256;

/// Column k of a dimension's generator matrix, digits of weight 1/2 first: point n is the exclusive
/// or of the columns where n has a 1 (digit 0 the lowest), divided by 2^32.
using SobolColumns = std::array<std::uint32_t, 32>;

/// Columns of dimension 0 <= d < sobol_dimensions.
SobolColumns sobol_columns(std::size_t dimension);

/// The polynomials and initial numbers of dimensions 1 and up (joe_kuo.cpp).
std::span<const std::uint16_t> joe_kuo_table();

/// The sequence under a random linear matrix scramble and a digital shift per dimension (Matousek
/// 1998), which keep every property of nets; the same for the same seed.
class ScrambledSobol {
 public:
  /// At most sobol_dimensions.
  ScrambledSobol(std::size_t dimensions, std::uint64_t seed);
  /// One coordinate of point `index` (below 2^32), in the middle of a cell of 2^-32.
  double at(std::uint64_t index, std::size_t dimension) const;

 private:
  struct Dimension {
    SobolColumns columns;
    std::uint32_t shift;
  };
  std::vector<Dimension> dimensions_;
};

}  // namespace mase::samplers
