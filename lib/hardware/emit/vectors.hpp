// SPDX-License-Identifier: Apache-2.0
// The frames that ship with a design: made to show wrong bits of its constants, its extremes and
// its saturations.
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "hardware/emit/simulate.hpp"
#include "hardware/integer/program.hpp"

namespace mase::emit {

/// `count` frames of many kinds: the least codes, the greatest, the two in turn, zeros, frames that
/// drive the first layer's widest sums to their ends; then random ones, uniform, small, sparse,
/// and smooth. The same for the same seed.
std::vector<integer::Codes> varied_frames(const integer::Program& program, std::int64_t count,
                                          std::uint64_t seed);

/// Frames beside the bench, with the exact integer results: varied ones, and those among further
/// ones that show flipped bits of constants which the others do not. How many there are, and how
/// long is looked for, follows from the size of a frame and of the network.
Vectors example_vectors(const integer::Program& program);

}  // namespace mase::emit
