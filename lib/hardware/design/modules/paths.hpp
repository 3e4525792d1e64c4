// SPDX-License-Identifier: Apache-2.0
// Longest paths of hardware modules as functions of their parameters: parts that several have, and
// those of the rows of the module table.
#pragma once

#include <cstdint>

#include "hardware/design/clock.hpp"
#include "hardware/design/design.hpp"
#include "hardware/design/modules/primitives.hpp"

namespace mase::design {

/// LUTs one after another of a function of so many inputs.
double tree_luts(std::int64_t inputs, const Technology& technology);
/// The same for the choice among so many words; a carry chain behind it is the caller's.
double choice_luts_deep(std::int64_t words, const Technology& technology);

/// A memory of block memories: how many, and how many stand above each other.
struct Blocks {
  std::int64_t count = 0, deep = 1;
};
/// In the shape that takes the fewest.
Blocks blocks_of(std::int64_t width, std::int64_t depth, const Technology& technology);

/// A counter with its enable in front and what tells its end.
Path counter_path(std::int64_t states, const Technology& technology);
/// The input of a skid of so many bits with a choice in front of it.
Path choice_path(std::int64_t pieces, std::int64_t bits, const Technology& technology);
/// hw_templates/matrix/mase_rom: its address, or its words into the next register.
Path rom_path(std::int64_t width, std::int64_t depth, bool block, const Technology& technology);
/// A memory that is written, in block memory or in LUT RAM: from its address, which all parts of
/// LUT RAM read, or its words into the next register.
Path memory_path(std::int64_t width, std::int64_t depth, bool block, const Technology& technology);
/// hw_templates/elementwise/mase_round, from a number of a width to its registers.
Path rounding_path(const Requantisation& requantisation, Width width, const Technology& technology,
                   bool halved = false);

/// An addition or a comparison of numbers.
Path adder_path(std::string_view what, std::int64_t bits);
/// A product of so many signed bits with its registers: in a DSP block, or rows of LUTs;
/// `multiplier` is the module's parameter MULTIPLIER.
Path product_path(int a, int b, std::int64_t multiplier);
/// What is added to a product in so many bits.
Path summand_path(const Path& product, std::int64_t bits);

}  // namespace mase::design
