// SPDX-License-Identifier: Apache-2.0
// Codes of a stream packed into the beats that the bench reads and writes.
#pragma once

#include <string>

#include "hardware/design/design.hpp"

namespace mase::emit {

constexpr std::int64_t beat_word_bits = 32;  ///< beats are stored in whole words

/// Beats one after another, each of ceil(width / 32) little-endian 32-bit words, lane 0 in the low
/// bits and unused bits zero. `codes` holds whole frames.
std::string pack_beats(const design::Stream& stream, const integer::Codes& codes);

/// Inverse of pack_beats.
integer::Codes unpack_beats(const design::Stream& stream, const std::string& bytes);

/// The beats as text, one hex number of all bits a line.
std::string hex_beats(const design::Stream& stream, const integer::Codes& codes);

}  // namespace mase::emit
