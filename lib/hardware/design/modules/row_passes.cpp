// SPDX-License-Identifier: Apache-2.0
// The counters of steps and passes, and the memory of a row.
#include "hardware/design/modules/row_passes.hpp"

#include <algorithm>

#include "hardware/design/modules/primitives.hpp"

namespace mase::design {
namespace {

/// hw_templates/matrix/mase_replay.
Cost replay_cost(std::int64_t width, std::int64_t depth) {
  const auto bits = static_cast<double>(width);
  if (depth == 1) return {.lut = 1, .ff = bits};
  if (replay_in_block.holds(width, depth)) {
    Cost cost = block_memory_cost(width, depth);
    cost.lut += bits;
    cost.ff = bits + 1;
    return cost;
  }
  Cost cost = lut_memory_cost(width, depth);
  cost.lut += 1;
  cost.ff = log2_ceiling(depth);
  return cost;
}

/// A path that ends in the multipliers of all outputs.
void go_to_multipliers(Path& path, const ProductShape& shape, double far) {
  path.readers = static_cast<double>(shape.pe);
  path.far = far;
}

/// From the last of the registers on the operands' way.
Path moved_path(const ProductShape& shape, const Technology& technology) {
  Path path{.what = "operands"};
  go_to_multipliers(path, shape, technology.ways.staged_operands);
  return path;
}

}  // namespace

bool RowSteps::step() {
  if (++column_ < columns_) return false;
  column_ = 0;
  if (++pass_ < passes_) return false;
  pass_ = 0;
  return true;
}

std::int64_t RowSteps::quiet(const Pipe& pipe) const {
  if (waits() || !pipe.enable()) return pipe.quiet();
  return std::min(pipe.quiet(), columns_ - 1 - column_);
}

Cost row_passes_cost(std::int64_t beat, std::int64_t columns, std::int64_t passes) {
  if (passes == 1) return {.ff = static_cast<double>(beat)};
  Cost cost = replay_cost(beat, columns);
  cost += counter_cost(passes);
  if (columns > 1) cost.lut += 3;
  return cost;
}

void add_row_paths(Paths& paths, const SumsOfProducts& sums, const ProductShape& shape,
                   std::int64_t passes, const Technology& technology) {
  if (passes == 1) return;
  Path steps = counter_path(passes, technology);
  steps.what = "steps";
  steps.luts += 1;
  const std::int64_t beat = shape.simd * sums.in_bits, stages = sums.operand_stages.value_or(0);
  const bool block = replay_in_block.holds(beat, shape.columns);
  Path kept = memory_path(beat, shape.columns, block, technology);
  kept.what = "kept operands";
  // The choice between a new beat and a word of a block memory, whose register the operands' is.
  if (block) kept.luts = 1;
  if (block && stages == 0) go_to_multipliers(kept, shape, technology.ways.kept_operands);
  if (block && stages > 0) paths.push_back(moved_path(shape, technology));
  paths.push_back(steps);
  paths.push_back(kept);
}

}  // namespace mase::design
