// SPDX-License-Identifier: Apache-2.0
// ONNX models as graphs of ATen operators.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "base/tree.hpp"
#include "ir/graph.hpp"
#include "onnx/model.hpp"

namespace mase::onnx {

/// How to import a model.
struct ImportOptions {
  std::string path;  ///< the file, for messages
  /// Example inputs, by the name of the input. Their shapes are those of the graph; an input
  /// without an example has the sizes of the file, and default_sizes for its symbols.
  std::map<std::string, Array> inputs;
  std::map<std::string, Tree> fixed;       ///< inputs that become constants, by name
  std::map<std::string, Array> constants;  ///< the same with whole arrays
  std::int64_t most_nodes = 200'000;       ///< maximum in the graph
};

struct Imported {
  ir::Graph graph;
  std::vector<std::string> notes;  ///< sentences about what the import changed or assumed
};

/// The inputs that a caller gives, in order: those without an initializer.
std::vector<const ValueInfo*> inputs_of(const Model& model);

/// Error(Fault::file) for a graph that is not sound, Error(Fault::unsupported) for an operator, an
/// opset or a use of an operator that has no counterpart, and Error(Fault::config) for example
/// inputs that do not fit; each names file and node.
Imported import_model(const Model& model, const ImportOptions& options);

}  // namespace mase::onnx
