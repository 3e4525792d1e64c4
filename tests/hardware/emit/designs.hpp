// SPDX-License-Identifier: Apache-2.0
// Small designs made by hand, and vectors for them.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "hardware/design/design.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/simulate.hpp"

namespace mase::test {

/// Stall probabilities in, out that every module is run with.
inline constexpr std::array<std::pair<double, double>, 4> kStallProfiles{
    {{0, 0}, {0.4, 0.4}, {0, 0.9}, {0.9, 0}}};

/// The name of a folder, with what shells and make read in other ways.
inline constexpr const char* kUnusualName = "a b'c\"d$(e)#f:g;h%i\\j\u00e9";

design::Stream stream(const std::string& name, std::int64_t lanes, int width, bool is_signed,
                      std::int64_t elements);

/// Two lines that have nothing in common: a -> skid -> b (3 beats of 13 bits a frame) and
/// c -> fifo -> d (2 beats of 5 lanes of 20 bits).
design::Design two_lines();

/// x -> skid -> y, 4 beats of 8 bits a frame.
design::Design one_skid();

/// x -> lookup -> y: a table of 16 words of 5 bits in the memory "table.mem": word i is 31 - i.
design::Design one_table();

/// Random codes for every input and the same for the output at its position.
emit::Vectors same_vectors(const design::Design& design, std::int64_t frames, std::uint64_t seed);

}  // namespace mase::test
