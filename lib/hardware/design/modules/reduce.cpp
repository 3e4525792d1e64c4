// SPDX-License-Identifier: Apache-2.0
// The lanes of a pool over one row under one window.
#include "hardware/design/modules/reduce.hpp"

#include <array>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/timing/handshake/pool.hpp"

namespace mase::design {

std::unique_ptr<Handshake> ReduceModule::handshake(Stages kept) const {
  return std::make_unique<PoolHandshake>(1, beats, 1, 1, beats, kept);
}

Cost ReduceModule::cost(const Design&) const {
  Cost cost = lanes_cost(1);
  cost += counters_cost(std::array{beats});
  return cost;
}

Paths ReduceModule::paths(const Technology& technology) const {
  Paths paths = lane_paths(technology);
  paths.push_back(counter_path(beats, technology));
  return paths;
}

ModuleRow ReduceModule::row() {
  return row_of_module<ReduceModule>({.folder = "window",
                                      .doc = "maximum or sum of beats",
                                      .uses = {"mase_pool"},
                                      .inputs = {"in"},
                                      .outputs = {"out"}});
}

}  // namespace mase::design
