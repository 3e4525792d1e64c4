// SPDX-License-Identifier: Apache-2.0
// A graph of common layers as a sequence of layers with hand-written backward steps.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "torch/run/executor.hpp"
#include "torch/train/layers.hpp"

namespace mase::train {

/// A layer and the values that it reads: value 0 is the network's input, value i + 1 what step i
/// gives.
struct LayerStep {
  std::unique_ptr<Layer> layer;
  std::size_t input = 0;
  std::optional<std::size_t> addend;  ///< what its sum adds
};

/// The steps, of which the last gives the result; nothing when the graph holds anything but common
/// layers of one input, and sums of two.
std::optional<std::vector<LayerStep>> layer_steps(libtorch::Executor& executor,
                                                  const Parameters& parameters);

}  // namespace mase::train
