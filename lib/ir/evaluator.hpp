// SPDX-License-Identifier: Apache-2.0
// Evaluator: how passes and commands run a graph without knowing LibTorch.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.hpp"

namespace mase::ir {

/// How exactly a graph is computed.
enum class Level {
  floating,   ///< ignore the formats on the graph
  quantized,  ///< quantize every port that has a format
  integer,    ///< the integer model: codes and exact sums, what the hardware computes
  rtl,        ///< the emitted hardware, simulated
};

/// Results by name: {"", array} for a single tensor, "0", "1", ... for a tuple or list, keys for a
/// dict.
using Results = std::vector<std::pair<std::string, Array>>;

/// Sees tensors while a graph runs: port "data_out" of every node that yields a tensor and, when
/// quantized, the tensor before quantization on each port as port + ".raw" and after as port.
using Observer = std::function<void(const Node& node, const std::string& port, const Array& value)>;

/// A graph ready to be run.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Runs in eval mode. Inputs in the order of the placeholders. Error(Fault::file) when number,
  /// dtype or rank does not fit; guards are checked.
  virtual Results run(const std::vector<Array>& inputs) = 0;
  virtual Results run(const std::vector<Array>& inputs, const Observer& observer) = 0;
};

using MakeEvaluator = std::function<std::unique_ptr<Evaluator>(const Graph&, Level)>;

}  // namespace mase::ir
