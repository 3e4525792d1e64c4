// SPDX-License-Identifier: Apache-2.0
// A partial result for each column of results. Where windows overlap or reach into padding, a
// window is in front, and behind it mase_reduce.
#include "hardware/design/modules/pool.hpp"

#include <algorithm>
#include <array>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/modules/reduce.hpp"
#include "hardware/design/modules/window.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pool.hpp"

namespace mase::design {
namespace {

const integer::Pool& pool_of(const Step& step) { return std::get<integer::Pool>(step.operation); }

bool on_the_fly(const integer::Window& window) { return window.y.tiles() && window.x.tiles(); }

FoldRule pool_rule(const Program&, const Step& step, const Fold&) {
  return same_lanes(pool_of(step).window.channels);
}

std::int64_t pool_interval(const Program&, const Step& step, const Fold& fold) {
  const integer::Window& window = pool_of(step).window;
  const std::int64_t blocks = window.channels / fold.in_lanes;
  if (on_the_fly(window)) return blocks * window.pixels();
  return blocks * std::max(window.pixels(), window.places() * window.kernel());
}

bool pool_bursts(const Program&, const Step& step, const Fold&) {
  return !on_the_fly(pool_of(step).window);
}

StreamId add_pool(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const integer::Pool& pool = pool_of(builder.step);
  const integer::Window& window = pool.window;
  const integer::FixedType& in = builder.input().type;
  const bool sums = pool.kind == integer::PoolKind::sum;
  const std::int64_t lanes = builder.fold.in_lanes, beats = window.channels / lanes;
  const LaneReduction reduction{requantisation_of(builder),     lanes, in.width, in.is_signed, sums,
                                accumulator_width(builder.step)};
  if (on_the_fly(window)) {
    const PoolModule module{reduction, window.y.size,   window.x.size,
                            beats,     window.y.kernel, window.x.kernel};
    return builder.finish(module, inputs, lanes);
  }
  const StreamId windows =
      add_window(builder, inputs[0], window, beats, sums ? Wide{0} : Wide{in.low()});
  return builder.finish(ReduceModule{reduction, window.kernel()}, {windows}, lanes);
}

}  // namespace

std::unique_ptr<Handshake> PoolModule::handshake(Stages kept) const {
  return std::make_unique<PoolHandshake>(height, width, beats, kernel_y, kernel_x, kept);
}

Cost PoolModule::cost(const Design&) const {
  const std::int64_t depth = kernel_y * kernel_x == 1 ? 1
                             : kernel_y == 1          ? beats
                                                      : width / kernel_x * beats;
  Cost cost = lanes_cost(depth);
  cost += counters_cost(std::array{beats, kernel_x, kernel_y, width > kernel_x ? width : 1,
                                   height % kernel_y != 0 ? height : 1, kernel_y > 1 ? depth : 1});
  // The address of the partial results also steps back to the beginning of a column.
  if (kernel_y > 1 && kernel_x > 1) cost.lut += fitted.counter_bit * log2_ceiling(depth);
  if (depth > 1) {  // what is read, or goes on inside a column
    const auto partial = static_cast<double>(lanes * sum_bits);
    cost.ff += partial + log2_ceiling(depth);
    if (beats == 1 && kernel_x > 1) cost.lut += partial;
  }
  cost.lut += 3;
  return cost;
}

Paths PoolModule::paths(const Technology& technology) const {
  Paths paths = lane_paths(technology);
  paths.push_back(counter_path(width / kernel_x * beats, technology));
  return paths;
}

StepRow PoolModule::step() {
  return {"pool", pool_rule, fold_lanes, pool_interval, pool_bursts, add_pool};
}

ModuleRow PoolModule::row() {
  return row_of_module<PoolModule>({.folder = "window",
                                    .doc = "pooling where windows do not overlap",
                                    .uses = {"mase_skid", "mase_less", "mase_requantise_stage"},
                                    .inputs = {"in"},
                                    .outputs = {"out"}});
}

}  // namespace mase::design
