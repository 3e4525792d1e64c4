// SPDX-License-Identifier: Apache-2.0
// Memory images: codes packed into the words that the modules of hw_templates read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hardware/design/design.hpp"

namespace mase::design {

/// Codes as fields of `bits` bits, two's complement, the first in the low bits; lower case hex,
/// most significant digit first, (bits * codes + 3) / 4 digits.
std::string pack_word(std::span<const Wide> codes, int bits);
/// The same as a parameter.
HexBits pack_bits(std::span<const Wide> codes, int bits);

/// A matrix layer's parameters: `sets` matrices of rows x columns, one after another, row-major.
struct MatrixShape {
  std::int64_t sets = 1, rows = 1, columns = 1;
};
/// Word (set*NF + n)*SF + s holds row n*pe + p, column s*simd + c at bit (p*simd + c)*bits.
std::vector<std::string> matrix_words(std::span<const Wide> weights, const MatrixShape& shape,
                                      std::int64_t simd, std::int64_t pe, int bits);

/// The same with an exponent of `exponent_bits` bits for each `simd` columns of a row: that of row
/// p of a word at bit pe*simd*bits + p*exponent_bits.
std::vector<std::string> matrix_words(std::span<const Wide> weights,
                                      std::span<const Wide> exponents, const MatrixShape& shape,
                                      std::int64_t simd, std::int64_t pe, int bits,
                                      int exponent_bits);

/// Word b holds codes b*lanes .. b*lanes + lanes - 1.
std::vector<std::string> vector_words(std::span<const Wide> codes, std::int64_t lanes, int bits);

/// What mase_gather reads, and its parameters that follow from it.
struct GatherImage {
  std::vector<Wide> words;  ///< one per run: the place of its first beat, and the flag of a pad
  int word_bits = 1;
  std::int64_t run = 1;    ///< output beats of a word
  std::int64_t start = 1;  ///< of any output beat i, at most start + i input beats are needed
  bool pads = false;       ///< some runs are outside of the input
};
/// For beats of `lanes` elements, which must move together.
GatherImage gather_image(const integer::Gather& gather, std::int64_t lanes);

}  // namespace mase::design
