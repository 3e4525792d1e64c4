// SPDX-License-Identifier: Apache-2.0
// The neighbours of a level among the codes.
#include "hardware/integer/lowering/element_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hardware/integer/lowering/requantise.hpp"

namespace mase::integer {
namespace {

/// The greatest scale that a number alone has in its block.
int scale_of(const BlockLevels& blocks, double magnitude) {
  int least = blocks.least, greatest = blocks.greatest;
  while (least < greatest) {
    const int middle = least + (greatest - least + 1) / 2;
    const bool reached = blocks.turn(middle).reached_by(magnitude);
    (reached ? least : greatest) = reached ? middle : middle - 1;
  }
  return least;
}

}  // namespace

double element_step(const Levels& levels, double number) {
  const auto level = std::ranges::lower_bound(levels.codes, levels.code_of(number));
  double step = std::numeric_limits<double>::infinity();
  if (level != levels.codes.begin()) step = static_cast<double>(*level - *std::prev(level));
  if (std::next(level) != levels.codes.end())
    step = std::min(step, static_cast<double>(*std::next(level) - *level));
  return std::ldexp(step, -levels.type.frac);
}

double element_step(const BlockLevels& blocks, double number) {
  const int scale = scale_of(blocks, std::abs(number)), exponent = blocks.exponent(scale);
  const double relative = std::ldexp(number, -exponent);
  return std::ldexp(element_step(blocks.mantissa(scale).elements, relative), exponent);
}

Grid grid_before_elements(const Grid& grid) {
  // Levels are whole codes. Those of blocks are at least four codes of the grid that decides.
  const int finer = grid.levels ? 4 : 2;
  const Interval range = shifted(interval_of(grid.type), finer);
  check_width(range, stream_bits,
              "its result before it is rounded to '" + format_text(grid) + "' needs");
  return {type_for(range.low, range.high, grid.type.frac + finer)};
}

}  // namespace mase::integer
