// SPDX-License-Identifier: Apache-2.0
// Decodes whole tensors with kernels, as described by a Decoding.
#pragma once

#include <span>

#include "formats/decoding.hpp"
#include "formats/format.hpp"
#include "simd/isa.hpp"

namespace mase::formats {

/// True when tables for codes of so many bits are small compared to a tensor of `count` elements.
bool are_small_tables(int bits, int shared_bits, std::size_t count);

/// The values of a tensor whose tiles share factors, for a decoding with fits_float() and step 1.
/// `in` has as many codes, shared codes and scales as the tensor needs.
void decode_by_factors(const Decoding& decoding, const Encoded& in, std::span<float> out,
                       simd::Isa isa = simd::best_isa());

}  // namespace mase::formats
