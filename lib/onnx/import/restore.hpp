// SPDX-License-Identifier: Apache-2.0
// Restores the nodes of a graph that was exported, where the file still says the same.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph.hpp"
#include "onnx/model.hpp"
#include "onnx/stored_graph.hpp"

namespace mase::onnx {

class Importer;

class Restorer {
 public:
  Restorer(Importer& importer, const Model& model);

  /// The size of an input in the stored graph; nullopt if it had no such dimension.
  std::optional<std::int64_t> size_of(const std::string& input, std::size_t dim) const;
  /// Takes the graph's inputs for those of the stored graph that have their names.
  void add_inputs();
  /// Adds the node that the first of `nodes` say, and returns how many say it; 0 if they are to be
  /// imported one by one.
  std::size_t import(std::span<const Node> nodes);
  /// The stored output of these results; nullptr if the graph had others.
  const ir::Value* output(const std::vector<ir::Value>& results);
  /// The name of the only output, where the stored graph says one.
  std::string output_name() const;
  /// Restores the containers, what is known of tensors, and those that no node reads.
  void finish();

 private:
  bool export_again();
  bool is_tapped(std::span<const Node> run, const std::vector<std::string>& results) const;
  bool add(const ir::Node& node);
  bool add_tensors(const ir::Node& node);
  bool has_tensor(const std::string& path) const;
  ir::NodeId place_of(ir::NodeId stored);
  void define(const ir::Node& stored, const std::vector<std::string>& outputs);
  void define(ir::NodeId id, std::vector<std::string>::const_iterator& next);

  std::optional<Array> unread(const std::string& path) const;

  Importer& importer_;
  const Model& model_;
  std::optional<ir::Graph> stored_;
  Constants constants_;
  Marks exported_;                                           ///< of the stored graph's export
  std::map<std::string, std::vector<std::string>> results_;  ///< of its nodes, by their names
  std::map<ir::NodeId, ir::NodeId> places_;  ///< nodes of the graph by those of the stored one
  std::size_t next_ = 0;                     ///< how many stored nodes have been passed
  ir::Value output_;
};

}  // namespace mase::onnx
