// SPDX-License-Identifier: Apache-2.0
// NodeWriter: a node of the graph as the rows of the export see it. It reads the operator's
// arguments and writes the nodes of ONNX that compute the same.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"
#include "onnx/model.hpp"

namespace mase::onnx {

class Exporter;

using Names = std::vector<std::string>;  ///< of values of the ONNX graph
using Attributes = std::vector<Attribute>;
using Integers = std::vector<std::int64_t>;

class NodeWriter {
 public:
  NodeWriter(Exporter& exporter, const ir::Node& node) : exporter_(exporter), node_(node) {}

  const ir::Node& node() const { return node_; }
  const ir::Graph& graph() const;
  std::int64_t opset() const;
  /// Error(Fault::unsupported); the caller names the node.
  [[noreturn]] void refuse(const std::string& reason) const;

  // Arguments, by the operator's names. Those of a layer count as those of its node.
  /// The value; nullptr for none, for absent arguments and for tensors of a layer.
  const ir::Value* find(std::string_view argument) const;
  bool has(std::string_view argument) const;  ///< a value other than none, or a tensor
  std::int64_t integer(std::string_view argument, std::int64_t otherwise) const;
  double number(std::string_view argument, double otherwise) const;
  bool flag(std::string_view argument, bool otherwise) const;
  std::string text(std::string_view argument, const std::string& otherwise) const;
  /// A list of constant integers, or one integer; nullopt if it is absent or has nodes.
  std::optional<Integers> integers(std::string_view argument) const;
  /// The same as `count` integers; a single one stands for all.
  Integers integers(std::string_view argument, std::size_t count, std::int64_t otherwise) const;

  // Values of the ONNX graph.
  std::string tensor(std::string_view argument);  ///< of an argument that is a tensor
  std::string value(ir::NodeId id);               ///< of a node whose result is one tensor
  const Names& values(ir::NodeId id);             ///< of a node whose result is a list or tuple
  /// A tensor or a number as a tensor of this type; numbers have no dimension.
  std::string operand_of(const ir::Value& value, DType dtype);
  std::string operand(std::string_view argument, DType dtype);
  /// Integers that may be nodes as a tensor of one dimension.
  std::string sizes(const ir::Value& list);
  Names tensors(std::string_view argument);  ///< of a list of tensors
  /// All tensors that a layer has for one argument, such as the matrices of its levels.
  Names layer_tensors(std::string_view argument);
  const ir::ValueInfo& info(std::string_view argument) const;
  const Shape& shape(std::string_view argument) const { return info(argument).shape; }
  /// The same of an argument that may also be a tensor of the layer.
  const Shape& tensor_shape(std::string_view argument) const;
  std::int64_t rank(std::string_view argument) const;
  /// The element type of an argument or value: int64 for integers of the host, float64 for reals.
  DType dtype(std::string_view argument) const;
  DType dtype_of(const ir::Value& value) const;
  DType result_dtype() const;
  std::int64_t result_rank() const { return static_cast<std::int64_t>(node_.info.shape.size()); }
  /// A dimension from the front.
  static std::int64_t axis(std::int64_t dim, std::int64_t rank) {
    return dim < 0 ? dim + rank : dim;
  }
  /// The size of a dimension of an argument if it does not depend on the batch.
  std::optional<std::int64_t> fixed_size(std::string_view argument, std::int64_t dim) const;

  // Nodes.
  /// The node that gives a value; nullptr for inputs and initializers.
  const Node* writer_of(const std::string& value) const;
  std::string constant(Array array);
  std::string constant(Array array, ElementType type);  ///< codes, or values of this type
  /// An initializer with a name of its own; the same one for the same name and values.
  std::string initializer(const std::string& name, ElementType type, Array array);
  std::string scalar(double value, DType dtype);
  std::string ints(const Integers& values);  ///< one dimension
  /// Adds a node, and gives the name of its result.
  std::string write(std::string_view op, const Names& inputs, Attributes attributes = {});
  /// Adds a node with so many results, and gives their names.
  Names write_list(std::string_view op, const Names& inputs, std::size_t count,
                   Attributes attributes = {});
  std::string write_in(std::string_view domain, std::string_view op, const Names& inputs,
                       Attributes attributes);  ///< an operator of another domain
  std::string cast(const std::string& value, DType from, DType to);
  /// The sizes of dimensions begin to end - 1 of a value as a tensor of one dimension.
  std::string shape_part(const std::string& value, std::int64_t begin, std::int64_t end);
  std::string unsqueezed(const std::string& value, const Integers& axes);
  std::string transposed(const std::string& value, std::int64_t rank, std::int64_t a,
                         std::int64_t b);

  // The node's own result.
  void finish(std::string_view op, const Names& inputs, Attributes attributes = {});
  void finish_list(std::string_view op, const Names& inputs, std::size_t count,
                   Attributes attributes = {});  ///< the node of ONNX has so many results
  void finish_as(const Names& values);           ///< a list of values that are there already

  /// Rounds the node's result, if it has a format, and names the formats that no row has read.
  void finish_formats();

 private:
  /// What an argument is in the format of its port: the value of a node, or a tensor.
  std::string rounded(std::string_view argument, const std::string& name, ir::NodeId source,
                      const std::string* path = nullptr);
  std::string rounded_value(const std::string& port, const std::string& x, ir::NodeId source);
  std::string rounded_tensor(const std::string& port, const std::string& path);

  Exporter& exporter_;
  const ir::Node& node_;
  std::map<std::string, std::string> rounded_;  ///< by port and name of the value
  std::set<std::string> ports_;                 ///< those whose formats have been applied
};

Attribute attribute(std::string name, Attribute::Value value);
inline Attribute along(std::int64_t axis) { return attribute("axis", axis); }
/// Pads on both sides of every dimension, those at the beginnings first.
Integers both_sides(const Integers& padding);
/// The end of a slice that has none.
inline constexpr std::int64_t to_the_end = std::numeric_limits<std::int64_t>::max();
/// The number of values that a result has in ONNX: one, or those of all items of a list.
std::size_t leaves(const ir::ValueInfo& result);

}  // namespace mase::onnx
