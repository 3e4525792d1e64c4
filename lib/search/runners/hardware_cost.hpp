// SPDX-License-Identifier: Apache-2.0
// The runner hardware, which predicts cycles, clock and resources of a model's design.
#pragma once

#include <array>
#include <vector>

#include "hardware/integer/program.hpp"
#include "search/runners/runner.hpp"

namespace mase::search {

/// The table `[search.strategy.hw_runner.hardware]`: options of the pass add_hardware_metadata.
struct HardwareCost {
  static constexpr RunnerDoc doc{
      "hardware", RunnerKind::hardware,
      "Cycles, clock and resources of the design, by the pass add_hardware_metadata."};
  static constexpr std::array metrics{
      MetricDoc{"latency", Direction::minimize, "cycles from the first input to the last output"},
      MetricDoc{"initiation_interval", Direction::minimize, "cycles between frames"},
      MetricDoc{"lut", Direction::minimize, "LUTs of the cost model"},
      MetricDoc{"ff", Direction::minimize, "flip-flops of the cost model"},
      MetricDoc{"dsp", Direction::minimize, "DSP blocks of the cost model"},
      MetricDoc{"bram", Direction::minimize, "RAMB36 blocks of the cost model"},
      MetricDoc{"fmax", Direction::maximize, "MHz that the clock is predicted to reach"},
      MetricDoc{"throughput", Direction::maximize, "frames per second at that clock"}};
  Tree options = Tree::dict();
  static std::vector<FieldInfo> describe();
  static HardwareCost read(const Tree& table, Diagnostics& diagnostics);
  std::unique_ptr<Runner> make(const Bench& bench) const;
  /// Whether the design that is measured takes the weights of other checkpoints.
  integer::Contents contents() const;
};

}  // namespace mase::search
