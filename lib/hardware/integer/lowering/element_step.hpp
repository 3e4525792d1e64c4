// SPDX-License-Identifier: Apache-2.0
// How fine the elements of a format are beside a number.
#pragma once

#include "hardware/integer/block_levels.hpp"
#include "hardware/integer/datapath.hpp"

namespace mase::integer {

/// The distance of the level that a number is rounded to from the nearer of its neighbours.
double element_step(const Levels& levels, double number);
/// The same in a block whose greatest number it is. Other blocks that have the number have a scale
/// at least as great, and elements at least as coarse.
double element_step(const BlockLevels& blocks, double number);

/// A plain grid for numbers that are rounded to the levels or the blocks of another one behind it:
/// it has at least sixteen places in the least step of elements.
Grid grid_before_elements(const Grid& grid);

}  // namespace mase::integer
