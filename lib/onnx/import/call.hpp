// SPDX-License-Identifier: Apache-2.0
// Call: a node of the ONNX graph as the rows see it: its operands, attributes and results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph.hpp"
#include "onnx/import/operand.hpp"
#include "onnx/import/scopes.hpp"
#include "onnx/model.hpp"

namespace mase::onnx {

class Importer;

/// The tensors of a layer by the operator's argument: the index of the operand of the call.
using LayerTensors = std::vector<std::pair<std::string, std::size_t>>;
/// Tensors of a layer by argument and path.
using TensorPaths = std::vector<std::pair<std::string, std::string>>;

class Call {
 public:
  Call(Importer& importer, const Node& node, std::int64_t opset)
      : importer_(importer), node_(node), opset_(opset) {}

  const Node& node() const { return node_; }
  Importer& importer() { return importer_; }
  std::int64_t opset() const { return opset_; }
  const Scope& scope() const;  ///< the module that the node belongs to
  /// Error(Fault::unsupported) that names the file and the node.
  [[noreturn]] void refuse(const std::string& reason) const;
  /// Error(Fault::file), for what ONNX does not allow.
  [[noreturn]] void wrong(const std::string& reason) const;

  // Operands.
  std::size_t count() const { return node_.inputs.size(); }
  bool has(std::size_t i) const;  ///< whether an operand is given
  Operand& operand(std::size_t i);
  /// An operand that may also be a sequence.
  const Operand& value(std::size_t i) const;
  /// The values of an operand that must be a sequence.
  const std::vector<Operand>& sequence(std::size_t i) const;
  /// The constant matrix that the operand is the transpose of; nullptr if it is none.
  Operand* transpose_of(std::size_t i);
  /// The operand as a node of the graph; constants become nodes that read tensors.
  ir::NodeId tensor(std::size_t i);
  ir::Value ref(std::size_t i) { return ir::NodeRef{tensor(i)}; }
  /// The operand of an elementwise operator: a number for a constant of one element that has no
  /// more dimensions than the other operand, else a node.
  ir::Value scalar_or_ref(std::size_t i, std::int64_t other_rank = 1);
  /// The elements of an operand that must be known one by one, as sizes are.
  HostTensor host(std::size_t i);
  std::optional<HostTensor> find_host(std::size_t i);
  /// The elements of an operand that are sizes: integers, constant or of the host.
  std::vector<ir::Value> sizes(std::size_t i);
  /// The only element of an operand that must be a constant truth value.
  bool truth(std::size_t i);
  /// The elements of an operand that must be constant integers.
  std::vector<std::int64_t> integers(std::size_t i);
  /// The only element of an operand that must be a constant number.
  double number(std::size_t i);
  /// The value of a constant operand of any size; nullptr if it is computed.
  const Array* constant(std::size_t i);
  bool is_constant();   ///< whether all operands are constants; there is one at least
  bool is_parameter();  ///< whether operand 0 is a constant that can be trained
  Shape shape(std::size_t i);
  std::int64_t rank(std::size_t i) { return static_cast<std::int64_t>(shape(i).size()); }
  DType dtype(std::size_t i);
  /// The size of a dimension: a number, or the node that reads it where symbols of the file decide.
  ir::Value size(ir::NodeId tensor, std::int64_t dim);

  // Attributes. A wrong type is an error.
  bool has_attribute(std::string_view name) const { return node_.find(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double number(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, const std::string& otherwise) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;
  std::optional<std::vector<double>> numbers(std::string_view name) const;
  const Tensor* tensor_attribute(std::string_view name) const;
  /// Axes from an attribute or, in later opsets, from an operand; counted from the front.
  std::optional<std::vector<std::int64_t>> axes(std::size_t operand, std::int64_t rank);
  /// A dimension counted from the front. Error when it is outside of the rank.
  std::int64_t axis(std::int64_t axis, std::int64_t rank) const;

  // Nodes.
  /// Adds a call of an operator of the op table.
  ir::NodeId emit(std::string_view op, std::vector<ir::Argument> args);
  /// Adds a layer where the file says which module of torch.nn this is, else a call. `args` are all
  /// arguments but the tensors, in the operator's order; `data` of them come first.
  ir::NodeId layer(std::string_view op, std::vector<ir::Argument> args, const TensorPaths& tensors);
  /// The same for operands that are the layer's tensors. It is a call if the model computes one.
  ir::NodeId layer(std::string_view op, std::vector<ir::Argument> args,
                   const LayerTensors& tensors);
  /// Whether the file says of which module of torch.nn these constants are the tensors.
  bool is_layer(std::string_view op, const LayerTensors& tensors);
  /// The path at which the graph holds a constant that is an argument of such an operator: that of
  /// its name in the file, or that of the layer if the exporter left no name.
  std::string store(std::string_view op, const std::string& argument, Constant& constant);
  const ir::ValueInfo& info(ir::NodeId id) const;

  /// Says that the layer which follows is written with so many nodes, this one the last of them.
  void written_with(int nodes) { layer_nodes_ = nodes; }
  /// The graph holds only while a condition on its sizes does, which is that of the example.
  void rely_on(const std::string& condition);

  // Results.
  std::size_t results() const { return node_.outputs.size(); }
  bool wants(std::size_t i) const { return i < results() && !node_.outputs[i].empty(); }
  void result(ir::NodeId node, std::size_t i = 0);
  void result(HostTensor tensor, std::size_t i = 0);
  void result(Operand operand, std::size_t i = 0);

 private:
  std::string stated_path(std::string_view op) const;
  std::string layer_path(std::string_view op, const TensorPaths& tensors) const;

  Importer& importer_;
  const Node& node_;
  std::int64_t opset_;
  mutable std::optional<Scope> scope_;  ///< once it has been read
  int layer_nodes_ = 2;  ///< a layer has at most so many nodes: MatMul and Add are a linear one
};

inline ir::Value ref(ir::NodeId id) { return ir::NodeRef{id}; }
/// "node 'NAME' (OPERATOR)", for messages; a node without a name is called by its first result.
std::string node_text(const Node& node);
/// A list of numbers as an argument.
ir::Value list_of(const std::vector<std::int64_t>& numbers);

}  // namespace mase::onnx
