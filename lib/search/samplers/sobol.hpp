// SPDX-License-Identifier: Apache-2.0
// Sobol's sequence, plain and scrambled, with the direction numbers of Joe and Kuo.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace mase::samplers {

inline constexpr std::size_t sobol_dimensions = 256;

/// The columns of a dimension's generator matrix, with the digit of weight 1/2 first. Point n is
/// the exclusive or of the columns k for which bit k of n is 1, divided by 2^32.
using SobolColumns = std::array<std::uint32_t, 32>;

/// The columns of dimension 0 <= d < sobol_dimensions.
SobolColumns sobol_columns(std::size_t dimension);

/// The polynomials and initial numbers of dimensions 1 and up (joe_kuo.cpp).
std::span<const std::uint16_t> joe_kuo_table();

/// The sequence with a random linear matrix scramble and a digital shift per dimension (Matousek
/// 1998), which preserve all properties of nets. It depends only on the seed.
class ScrambledSobol {
 public:
  /// There can be at most sobol_dimensions dimensions.
  ScrambledSobol(std::size_t dimensions, std::uint64_t seed);
  /// A coordinate of point `index` (below 2^32), in the middle of a cell of size 2^-32.
  double at(std::uint64_t index, std::size_t dimension) const;

 private:
  struct Dimension {
    SobolColumns columns;
    std::uint32_t shift;
  };
  std::vector<Dimension> dimensions_;
};

}  // namespace mase::samplers
