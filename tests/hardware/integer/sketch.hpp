// SPDX-License-Identifier: Apache-2.0
// Sketch: short ways to write a quantized graph in a test, with random weights.
#pragma once

#include <string>
#include <vector>

#include "base/random.hpp"
#include "ir/graph.hpp"

namespace mase::test {

/// Formats by port, as text: {{"data_in", "integer(8, 4)"}}.
using Formats = std::vector<std::pair<std::string, std::string>>;

/// Formats of a layer of 8-bit inputs and biases and 6-bit weights.
inline const Formats eight{
    {"data_in", "integer(8, 4)"}, {"weight", "integer(6, 4)"}, {"bias", "integer(8, 5)"}};

/// Arguments of a call: a node's result, and a list of integers.
inline ir::Value ref(ir::NodeId id) { return ir::Value(ir::NodeRef{id}); }
ir::Value list(const Shape& values);

/// A graph that grows node by node; shapes include the batch dimension, here 2.
class Sketch {
 public:
  explicit Sketch(std::uint64_t seed = 1) : random_(seed) {}

  ir::NodeId input(const Shape& shape, const Formats& formats = {});
  /// A function call: "aten::relu" with args, of the shape given. A second operand without a format
  /// of its own takes that of data_in.
  ir::NodeId call(const std::string& op, std::vector<ir::Argument> args, const Shape& shape,
                  const Formats& formats = {});
  /// The same with any result information.
  ir::NodeId call(const std::string& op, std::vector<ir::Argument> args, const ir::ValueInfo& info,
                  const Formats& formats = {});
  /// A layer with tensors of these shapes, filled with uniform numbers up to `scale`.
  ir::NodeId layer(const std::string& class_name, const std::string& op, ir::NodeId x,
                   std::vector<ir::Argument> attributes,
                   const std::vector<std::pair<std::string, Shape>>& tensors, const Shape& shape,
                   const Formats& formats, double scale = 1);
  ir::NodeId parameter(const Shape& shape, double scale, const Formats& formats = {});
  ir::NodeId indices(const std::vector<std::int64_t>& values);
  ir::NodeId constants(const std::vector<float>& values, const Shape& shape);

  ir::NodeId linear(ir::NodeId x, std::int64_t outputs, const Formats& formats, double scale = 1,
                    bool bias = true);
  ir::NodeId relu(ir::NodeId x, const Formats& formats = {});

  const Shape& shape(ir::NodeId id) const { return graph.node(id).info.shape; }
  ir::Graph finish(ir::NodeId result);
  ir::Graph finish(const ir::Value& result);

  ir::Graph graph;

 private:
  ir::NodeId add(ir::Node node, const Formats& formats);
  Array random_array(const Shape& shape, double scale);
  Random random_;
  int count_ = 0;
};

/// Lowers and runs the graph on random and on extreme inputs and compares every result with the
/// reference. `scale`: range of the inputs.
void check_against_reference(const ir::Graph& graph, double scale, std::uint64_t seed = 7);

/// The same on inputs whose groups of four have magnitudes from 2^-24 to 2^24: of one magnitude,
/// all zero, of one number far above the others, of a largest number and zeros, of powers of two.
void check_groups_against_reference(const ir::Graph& graph, std::uint64_t seed = 7);

/// Uniform numbers in +-scale; every third one a multiple of scale / 64, so that ties occur.
Array random_batch(const Shape& shape, double scale, std::uint64_t seed);

}  // namespace mase::test
