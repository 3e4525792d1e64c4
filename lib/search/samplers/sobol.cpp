// SPDX-License-Identifier: Apache-2.0
// Generates and scrambles the generator matrices of Sobol's sequence.
#include "search/samplers/sobol.hpp"

#include <bit>

#include "base/error.hpp"
#include "base/random.hpp"

namespace mase::samplers {

namespace {

std::uint32_t point(const SobolColumns& columns, std::uint64_t index) {
  std::uint32_t digits = 0;
  for (std::size_t k = 0; k < columns.size(); ++k)
    if (index >> k & 1U) digits ^= columns[k];
  return digits;
}

/// The polynomial and initial numbers of a dimension. The degree determines the length of an entry.
std::span<const std::uint16_t> entry(std::size_t dimension) {
  std::span<const std::uint16_t> table = joe_kuo_table();
  const auto size = [&] { return static_cast<std::size_t>(std::bit_width(table[0])); };
  for (std::size_t d = 1; d < dimension; ++d) table = table.subspan(size());
  return table.first(size());
}

/// A random lower triangular matrix with ones on its diagonal. Row i lists the digits to add up.
std::array<std::uint32_t, 32> triangular(Random& random) {
  std::array<std::uint32_t, 32> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint32_t diagonal = std::uint32_t{1} << (31 - i);
    rows[i] = diagonal | (random.next_u32() & ~(diagonal | (diagonal - 1)));
  }
  return rows;
}

std::uint32_t product(const std::array<std::uint32_t, 32>& rows, std::uint32_t digits) {
  std::uint32_t result = 0;
  for (const std::uint32_t row : rows)
    result = result << 1 | static_cast<std::uint32_t>(std::popcount(row & digits) & 1);
  return result;
}

}  // namespace

SobolColumns sobol_columns(std::size_t dimension) {
  MASE_CHECK(dimension < sobol_dimensions, "no direction numbers for this dimension");
  SobolColumns columns{};
  if (dimension == 0) {
    for (std::size_t k = 0; k < columns.size(); ++k) columns[k] = std::uint32_t{1} << (31 - k);
    return columns;
  }
  const auto numbers = entry(dimension);
  const std::uint32_t polynomial = numbers[0];
  const std::size_t degree = numbers.size() - 1;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (k < degree) {
      columns[k] = std::uint32_t{numbers[k + 1]} << (31 - k);
      continue;
    }
    // Bratley & Fox 1988: the recurrence of the polynomial, on columns scaled to 2^32.
    columns[k] = columns[k - degree] ^ (columns[k - degree] >> degree);
    for (std::size_t i = 1; i < degree; ++i)
      if (polynomial >> (degree - i) & 1U) columns[k] ^= columns[k - i];
  }
  return columns;
}

ScrambledSobol::ScrambledSobol(std::size_t dimensions, std::uint64_t seed) {
  for (std::size_t d = 0; d < dimensions; ++d) {
    Random random(seed, d);
    const auto rows = triangular(random);
    Dimension dimension{sobol_columns(d), random.next_u32()};
    for (std::uint32_t& column : dimension.columns) column = product(rows, column);
    dimensions_.push_back(dimension);
  }
}

double ScrambledSobol::at(std::uint64_t index, std::size_t dimension) const {
  const Dimension& d = dimensions_[dimension];
  return (static_cast<double>(point(d.columns, index) ^ d.shift) + 0.5) * 0x1p-32;
}

}  // namespace mase::samplers
