// SPDX-License-Identifier: Apache-2.0
// Builder: builds a network as a chain of layers, with joints where it branches, as the importer
// would read it from a PyTorch model, with torch.nn's default initial weights.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::models {

/// A node that several nodes read, and the shape of its rows.
struct Joint {
  ir::NodeId node;
  Shape shape;
};

/// Each call appends one node that reads the node before it. Shapes are those of one row.
/// Weights and biases of linear and convolution layers come from ir::initial_weights, with the
/// tensor's place as stream; tables of embeddings are normal. Norms start with ones and zeros.
class Builder {
 public:
  /// `root_class` is the class name of the whole network; token ids are int64.
  Builder(const std::string& name, const std::string& root_class, const Shape& sample_shape,
          std::uint64_t seed, DType input = DType::float32);

  /// Declares a container ("seq_blocks", "Sequential"); its layers' paths begin with its name.
  void container(const std::string& path, const std::string& short_class);

  // Layers of torch.nn.
  void linear(const std::string& path, std::int64_t outputs);
  void token_linear(const std::string& path, std::int64_t outputs,
                    bool bias = true);  ///< for rows of [tokens, inputs]
  /// Row x of a table with `rows` rows for every token id x: [tokens, width].
  void embedding(const std::string& path, std::int64_t rows, std::int64_t width);
  void conv2d(const std::string& path, std::int64_t channels, std::int64_t kernel,
              std::int64_t padding, bool bias, std::int64_t stride = 1);
  void batch_norm(const std::string& path, double momentum = 0.1);  ///< 1d or 2d, by the shape
  void layer_norm(const std::string& path, double eps = 1e-5);      ///< over the last dimension
  void rms_norm(const std::string& path);                           ///< the same with eps 1e-5
  void relu(const std::string& path);
  void gelu(const std::string& path);
  void silu(const std::string& path);
  void tanh(const std::string& path);
  void softmax(const std::string& path);
  void max_pool2d(const std::string& path, std::int64_t kernel);

  // Functions and methods.
  void call_relu();                           ///< torch.nn.functional.relu
  void call_max_pool2d(std::int64_t kernel);  ///< torch.nn.functional.max_pool2d
  void call_flatten();                        ///< torch.flatten(x, 1)
  void call_view();                           ///< x.view(-1, features)

  /// Calls any other operator; `batch` is the index of the batch dimension in its result.
  void call(ir::NodeKind kind, const std::string& target, const std::string& op,
            std::vector<ir::Argument> args, const Shape& result, std::size_t batch = 0);

  std::array<Joint, 2> halves();             ///< halves of the last dimension, by torch.chunk
  Joint item(const Joint& list, int index);  ///< an item of a list; items have the joint's shape
  void concat(const Joint& first, const Joint& second);  ///< joins along the last dimension
  /// Puts a parameter as one more row in front of [rows, width].
  void add_token(const std::string& path);
  void first_row();  ///< x[:, 0] of [rows, width]

  // Joints.
  /// x + table, where the table is a parameter with the shape of a row.
  void add_positions(const std::string& path);
  void add(const Joint& other);       ///< other + x; both have the same shape
  void multiply(const Joint& other);  ///< x * other, which has x's last dimensions
  /// A tensor that is neither a parameter nor part of a layer, such as a mask.
  Joint constant(const std::string& path, Array value);
  Joint joint() const { return {last_, shape_}; }
  /// Continues from a joint: the next node reads it.
  void go_on_from(const Joint& joint);

  const Shape& shape() const { return shape_; }  ///< shape of one row after the last layer

  /// Adds the output and returns the graph.
  ir::Graph finish();

 private:
  void add_linear(const std::string& path, std::int64_t outputs, bool bias);
  void join(const Joint& first, const Joint& second, int dim);
  ir::NodeId add_tensor(const std::string& path, ir::Tensor tensor);
  void add_parameter(ir::Module& module, const std::string& argument, const Shape& shape,
                     std::int64_t fan_in);
  void add_constant(ir::Module& module, const std::string& argument, float value, bool parameter);
  void add_layer(ir::Module module, const std::string& data_argument);
  void add_call(ir::NodeKind kind, const std::string& target, const std::string& op,
                std::vector<ir::Argument> args, std::size_t batch = 0);
  void append(ir::NodeKind kind, const std::string& target, const std::string& op,
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
