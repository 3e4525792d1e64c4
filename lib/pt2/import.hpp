// SPDX-License-Identifier: Apache-2.0
// Exported programs as graphs of ATen operators, with the layers of torch.nn as nodes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "ir/graph.hpp"
#include "pt2/program.hpp"

namespace mase::pt2 {

struct ImportOptions {
  /// Example inputs by name. Their shapes are those of the graph; an input without an example has
  /// the sizes of the export.
  std::map<std::string, Array> inputs;
  std::int64_t most_nodes = 200'000;  ///< maximum in the graph
};

struct Imported {
  ir::Graph graph;
  std::vector<std::string> notes;  ///< sentences about what the import changed or assumed
};

/// The names of the tensors that a caller gives, in order.
std::vector<std::string> inputs_of(const Program& program);
/// Whether the model changes some of its tensors. Those that a later run reads are inputs of the
/// graph behind the others.
bool may_keep_state(const Program& program);

/// Error(Fault::file) for a graph that is not sound, Error(Fault::unsupported) for what has no
/// counterpart, and Error(Fault::config) for examples that do not fit; each names file and node.
Imported import_program(const Program& program, const ImportOptions& options);

}  // namespace mase::pt2
