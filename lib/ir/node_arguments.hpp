// SPDX-License-Identifier: Apache-2.0
// A node's arguments as metadata lists them: data is named data_in_N, parameters and configuration
// keep their own names.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::ir {

/// An argument under the name that metadata and configurations use.
struct NamedArgument {
  std::string name;    ///< "data_in_0", "weight", "dim", ...
  std::string port;    ///< port of data and parameters; empty for configuration
  Value value;         ///< of data and configuration
  std::string tensor;  ///< path of a module's parameter or buffer, otherwise ""
};

/// The arguments in their order; a module's parameters and attributes come last. Containers of data
/// are taken apart, and optional data that is absent is left out.
std::vector<NamedArgument> named_arguments(const Graph& graph, const Node& node);

/// A value as JSON: a node is {"node": name}, a slice {"slice": [start, stop, step]}, a list or
/// tuple a list. The training flag is false, as it is when the graph is evaluated.
Tree value_json(const Graph& graph, const Value& value);

}  // namespace mase::ir
