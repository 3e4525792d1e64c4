// SPDX-License-Identifier: Apache-2.0
// The memories of a reloadable design side by side in one address space, as the port `reload` of
// its modules counts: words of 32 bits.
#pragma once

#include <cstdint>

#include "hardware/design/design.hpp"

namespace mase::design {

/// Bits of the port `reload`: write, address, data.
constexpr std::int64_t reload_address_bits = 24, reload_bits = 1 + reload_address_bits + 32;

/// Words of 32 bits that a word of the memory takes, low bits first.
std::int64_t reload_pieces(const Memory& memory);
/// From a word of the memory to the next: the power of two from there on.
std::int64_t reload_pitch(const Memory& memory);

/// Gives every memory that a host may write its base, a multiple of the power of two of words that
/// it takes up, and tells the module that has it (X_BASE beside X_FILE). Largest ones first, which
/// leaves no gaps between them. Error(Fault::unsupported) when they need more addresses than there
/// are.
void assign_bases(Design& design);

}  // namespace mase::design
