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

/// Results by name: {"", array} for a single tensor; "0", "1", ... for the items of a tuple or
/// list; the keys of a dict.
using Results = std::vector<std::pair<std::string, Array>>;

/// Sees tensors while a graph runs: the port "data_out" of every node that yields a tensor. Where a
/// port is quantized, it sees the tensor before as PORT.raw and the quantized one as PORT.
using Observer = std::function<void(const Node& node, const std::string& port, const Array& value)>;

/// A graph ready to be run.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Runs the graph in eval mode and checks its guards. Inputs are in the order of the
  /// placeholders. Error(Fault::file) when their number, dtype or rank does not fit.
  virtual Results run(const std::vector<Array>& inputs) = 0;
  virtual Results run(const std::vector<Array>& inputs, const Observer& observer) = 0;
};

using MakeEvaluator = std::function<std::unique_ptr<Evaluator>(const Graph&, Level)>;

}  // namespace mase::ir
