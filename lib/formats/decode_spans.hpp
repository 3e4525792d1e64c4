// SPDX-License-Identifier: Apache-2.0
// Decoding of whole tensors by kernels, as a Decoding says.
#pragma once

#include <span>

#include "formats/decoding.hpp"
#include "formats/format.hpp"
#include "simd/isa.hpp"

namespace mase::formats {

/// Whether tables of so many bits are small beside a tensor of `count` elements.
bool are_small_tables(int bits, int shared_bits, std::size_t count);

/// The values of a tensor whose tiles share factors, of a decoding that fits_float() and whose step
/// is 1. `in` has as many codes, shared codes and scales as the tensor asks for.
void decode_by_factors(const Decoding& decoding, const Encoded& in, std::span<float> out,
                       simd::Isa isa = simd::best_isa());

}  // namespace mase::formats
