// SPDX-License-Identifier: Apache-2.0
// Which values of a graph are quantized on the way into and out of an exported operator.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "ir/op_table.hpp"
#include "torch/export/method.hpp"

namespace mase::libtorch {

bool has_nodes(const ir::Value& value);
/// The node that stands first in a value; no_node when there is none.
ir::NodeId first_node(const ir::Value& value);

/// Formats apply to float32 tensors only, as in the executor; what is unknown is taken for one.
bool takes_format(const ir::ValueInfo& info);
/// The same of every node in a value.
bool takes_format(const ir::Graph& graph, const ir::Value& value);

/// Dimensions of a tensor, or of every tensor of a list; -1 where that is not known.
int rank_of(const ir::ValueInfo& info);
/// The same of every node in a value.
int rank_of(const ir::Graph& graph, const ir::Value& value);

/// The formats of a node's ports, found by operator argument and, where a port is one item of a
/// list argument, by the node that feeds it.
class PortFormats {
 public:
  PortFormats(const ir::Graph& graph, const ir::Node& node);

  /// The format of an argument that is not a node of the graph: a module's own tensor.
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

/// The value of a node in the format of its data_out.
MethodBuilder::JitValue* quantize_output(MethodBuilder& builder, const ir::Node& node,
                                         MethodBuilder::JitValue* value, bool keeps_masks);

}  // namespace mase::libtorch
