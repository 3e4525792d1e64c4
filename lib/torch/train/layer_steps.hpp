// SPDX-License-Identifier: Apache-2.0
// Turns a graph of common layers into a sequence of layers with hand-written backward steps.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "torch/run/executor.hpp"
#include "torch/train/layers.hpp"

namespace mase::train {

/// A layer and the values that it reads. Value 0 is the input of the network, and value i + 1 is
/// the result of step i.
struct LayerStep {
  std::unique_ptr<Layer> layer;
  std::size_t input = 0;
  std::optional<std::size_t> addend;  ///< the other operand of its sum
};

/// The steps; the last one computes the result. Nothing if the graph has anything but common layers
/// with one input and sums of two.
std::optional<std::vector<LayerStep>> layer_steps(libtorch::Executor& executor,
                                                  const Parameters& parameters);

}  // namespace mase::train
