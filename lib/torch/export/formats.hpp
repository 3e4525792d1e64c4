// SPDX-License-Identifier: Apache-2.0
// Finds the formats that an exported operator applies to its arguments and its result.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "ir/op_table.hpp"
#include "torch/export/method.hpp"

namespace mase::libtorch {

bool has_nodes(const ir::Value& value);
/// The first node in a value; no_node if it has none.
ir::NodeId first_node(const ir::Value& value);

/// Whether formats apply: as in the executor, to float32 tensors and to values of unknown type.
bool takes_format(const ir::ValueInfo& info);
/// Whether a format applies to every node in a value.
bool takes_format(const ir::Graph& graph, const ir::Value& value);

/// The number of dimensions of a tensor, or of all tensors of a list; -1 if it is unknown.
int rank_of(const ir::ValueInfo& info);
/// The same for all nodes in a value.
int rank_of(const ir::Graph& graph, const ir::Value& value);

/// The formats of a node's ports. They are found by operator argument or, for a port that is one
/// item of a list argument, by the node that feeds it.
class PortFormats {
 public:
  PortFormats(const ir::Graph& graph, const ir::Node& node);

  /// The format of an argument that is a tensor of the module instead of a node.
  const formats::Format* find(const std::string& argument) const;
  const formats::Format* find(const std::string& argument, ir::NodeId source) const;

 private:
  struct Row {
    std::string argument;
    ir::NodeId source;
    const formats::Format* format;
  };
  std::vector<Row> rows_;
};

/// Quantizes the value of a node to the format of its data_out.
MethodBuilder::JitValue* quantize_output(MethodBuilder& builder, const ir::Node& node,
                                         MethodBuilder::JitValue* value, bool keeps_masks);

}  // namespace mase::libtorch
