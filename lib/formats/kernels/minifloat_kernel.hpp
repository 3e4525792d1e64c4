// Fake quantization by a minifloat over a span, in float32, for each instruction set (profile
// exact).
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/kernels/isa.hpp"
#include "formats/minifloat_scalar.hpp"

namespace mase::formats::kernels {

/// A minifloat's grid as float32 numbers and bit patterns.
struct MinifloatGrid {
  float limit = 0;             ///< magnitudes are cut off here: the largest, or the power above it
  float largest = 0;           ///< the largest finite value
  float overflow = 0;          ///< what becomes of larger magnitudes
  std::int32_t lowest = 0;     ///< bits of 2^lowest_exponent
  std::int32_t to_addend = 0;  ///< from a power's bits to those of the addend that rounds there
};

MinifloatGrid minifloat_grid(const MinifloatSpec& spec);

/// Whether float32 additions round to the grid (OnMinifloatGrid): its lowest exponent is that of a
/// normal float32, and the largest addend is finite.
bool fits_one_addition(const MinifloatSpec& spec);
/// Whether they do with large magnitudes scaled down (OnWideMinifloatGrid).
bool fits_two_halves(const MinifloatSpec& spec);

/// A minifloat's codes in terms of float32 bit patterns.
struct MinifloatCodeGrid {
  std::int32_t lowest = 0;       ///< bits of 2^lowest_exponent
  std::int32_t addend = 0;       ///< bits of 2^(lowest_exponent + 23 - fraction_bits)
  std::int32_t leading_one = 0;  ///< 2^fraction_bits
  int fraction_shift = 0;        ///< 23 - fraction_bits
  int sign_shift = 0;            ///< 32 - width
};

MinifloatCodeGrid minifloat_code_grid(const MinifloatSpec& spec);

}  // namespace mase::formats::kernels
