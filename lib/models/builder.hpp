// SPDX-License-Identifier: Apache-2.0
// Builder: a network as a chain of layers, with joints where it branches, written down as the
// importer would find it in a PyTorch model, with torch.nn's default initial weights.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::models {

/// Each call appends one node that reads the node before it. Shapes are those of one row.
/// Weights and biases of linear and convolution layers are ir::initial_weights, the stream being
/// the tensor's place. Batch norms start with ones and zeros.
class Builder {
 public:
  /// `root_class` is the class name of the whole network.
  Builder(const std::string& name, const std::string& root_class, const Shape& sample_shape,
          std::uint64_t seed);

  /// Declares a container ("seq_blocks", "Sequential"); its layers' paths begin with its name.
  void container(const std::string& path, const std::string& short_class);

  // Layers of torch.nn.
  void linear(const std::string& path, std::int64_t outputs);
  void token_linear(const std::string& path, std::int64_t outputs);  ///< of [tokens, inputs]
  void conv2d(const std::string& path, std::int64_t channels, std::int64_t kernel,
              std::int64_t padding, bool bias, std::int64_t stride = 1);
  void batch_norm(const std::string& path, double momentum = 0.1);  ///< 1d or 2d by the shape
  void layer_norm(const std::string& path);  ///< over the last dimension, eps 1e-5
  void relu(const std::string& path);
  void gelu(const std::string& path);
  void softmax(const std::string& path);
  void max_pool2d(const std::string& path, std::int64_t kernel);

  // Functions and methods.
  void call_relu();                           ///< torch.nn.functional.relu
  void call_max_pool2d(std::int64_t kernel);  ///< torch.nn.functional.max_pool2d
  void call_flatten();                        ///< torch.flatten(x, 1)
  void call_view();                           ///< x.view(-1, features)

  /// Any other operator; `batch` is the place of the batch dimension in what it gives.
  void call(ir::NodeKind kind, const std::string& target, const std::string& op,
            std::vector<ir::Argument> args, const Shape& result, std::size_t batch = 0);

  // Joints.
  /// x + table, a parameter of the shape of a row.
  void add_positions(const std::string& path);
  void add(ir::NodeId other);  ///< other + x, of one shape
  ir::NodeId last() const { return last_; }
  /// The next node reads this one, whose rows have the shape.
  void go_on_from(ir::NodeId node, const Shape& shape);

  const Shape& shape() const { return shape_; }  ///< of one row, after the last layer

  /// Adds the output and hands the graph over.
  ir::Graph finish();

 private:
  void add_linear(const std::string& path, std::int64_t outputs);
  void add_parameter(ir::Module& module, const std::string& argument, const Shape& shape,
                     std::int64_t fan_in);
  void add_constant(ir::Module& module, const std::string& argument, float value, bool parameter);
  void add_layer(ir::Module module, const std::string& data_argument);
  void add_call(ir::NodeKind kind, const std::string& target, const std::string& op,
                std::vector<ir::Argument> args, std::size_t batch = 0);
  void pool_shape(std::int64_t kernel);
  [[noreturn]] void impossible(const std::string& reason) const;
  ir::ValueInfo info(std::size_t batch = 0) const;

  ir::Graph graph_;
  Shape sample_shape_, shape_;
  ir::NodeId last_;
  std::uint64_t seed_;
};

}  // namespace mase::models
