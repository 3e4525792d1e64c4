// SPDX-License-Identifier: Apache-2.0
// What an export stores of its graph, so that an import restores what ONNX does not say: the
// model's metadata have the text of the graph, and the first of the nodes that say one node of the
// graph has its name, with a digest of these nodes. The import exports the stored graph once more:
// only a run of nodes that is still the same as the stored node's is restored, and any other is
// imported by the rows. Neither the stored text nor a digest in the file is believed.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "ir/graph.hpp"
#include "onnx/model.hpp"

namespace mase::onnx {

/// Initializers that are no tensors of the graph, by name: sizes and numbers.
using Constants = std::map<std::string, Array>;

/// Marks nodes as those of the graph's node `name`.
void mark_nodes(std::span<Node> nodes, const std::string& name, const Constants& constants);
/// Stores the graph's text in the metadata of the model.
void store_graph(const ir::Graph& graph, Model& model);

/// Stores an integer that no node reads, such as a counter of batches: runtimes warn of
/// initializers that nothing reads. False for other tensors.
bool store_counter(const std::string& path, const Array& value, Model& model);
/// The stored integer of this path; nullopt if there is none.
std::optional<Array> stored_counter(const Model& model, const std::string& path);

/// Nodes of a model that say one node of the stored graph.
struct StoredRun {
  std::string node;
  std::size_t count;
};
/// The marks of an export, by the names of the graph's nodes.
using Marks = std::map<std::string, std::string>;
Marks marks_of(const Model& model);
/// The run with which `nodes` begin; nullopt if there is none, or if the export with these marks
/// has other nodes in its place.
std::optional<StoredRun> run_at(std::span<const Node> nodes, const Constants& constants,
                                const Marks& exported);

/// The stored graph, whose tensors are zeros; nullopt if the model has none, or one that is not
/// sound or has operators that models may not run.
std::optional<ir::Graph> stored_graph(const Model& model, const std::string& path);

}  // namespace mase::onnx
