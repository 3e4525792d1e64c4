// SPDX-License-Identifier: Apache-2.0
// A node's arguments as metadata sees them: data under the names data_in_N, parameters and
// configuration under their own.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::ir {

/// An argument under the name that metadata and configurations use.
struct NamedArgument {
  std::string name;    ///< "data_in_0", "weight", "dim", ...
  std::string port;    ///< of data and parameters; empty for configuration
  Value value;         ///< data and configuration
  std::string tensor;  ///< path of a module's parameter or buffer, else ""
};

/// In argument order, a module's parameters and attributes last. Containers of data are taken
/// apart, optional data that is absent is left out.
std::vector<NamedArgument> named_arguments(const Graph& graph, const Node& node);

/// A value as JSON: nodes {"node": name}, slices {"slice": [start, stop, step]}, lists and tuples
/// as lists; the training flag is false, as in the evaluated graph.
Tree value_json(const Graph& graph, const Value& value);

}  // namespace mase::ir
