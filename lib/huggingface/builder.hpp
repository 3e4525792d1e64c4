// SPDX-License-Identifier: Apache-2.0
// Builder: the nodes of a model as a trace of it has them. Sizes of the batch and of the sequence
// are nodes, so a graph takes any.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "huggingface/config.hpp"
#include "huggingface/weights.hpp"
#include "ir/graph.hpp"

namespace mase::huggingface {

using Ref = ir::Value;  ///< the result of a node, or a constant
inline Ref all() { return Ref::slice(Ref(), Ref(), Ref()); }  ///< the index `:`
using Arguments = std::vector<ir::Argument>;

/// The numbers 0 to count - 1 as int64[1, count], and zeros, which are made when they are read.
Array numbered(std::int64_t count);
Array zeros(const Shape& shape);

/// How the scores of an attention become weights: which conversions a trace has.
enum class Softmax { plain, float32, converted };

struct Attention {
  Ref query, key, value;  ///< [batch, heads, tokens, size]
  Ref mask;               ///< added to the scores if it is not None
  double scaling;
  double dropout;
  Softmax softmax = Softmax::plain;
  std::pair<int, int> transposed = {2, 3};  ///< the dimensions of the key, as the model writes them
};

struct Convolution {
  std::int64_t inputs, outputs;
  std::pair<std::int64_t, std::int64_t> kernel, stride, padding;
  bool bias = true;
};

class Builder {
 public:
  /// `classes` is where the model's own classes are, "transformers.models.bert.modeling_bert".
  Builder(const Config& config, Weights& weights, const std::map<std::string, Array>& examples,
          const std::string& name, const std::string& classes);

  const Config& config() const { return config_; }

  // Inputs and the end. An input has the shape of its example, or else `usual`.
  Ref input(const std::string& name, DType dtype, const Shape& usual);
  ir::Graph finish(const std::vector<Ref>& results);

  // Modules that call others: of the model's own classes, or lists.
  void container(const std::string& path, const std::string& own_class);
  void foreign(const std::string& path, const std::string& class_name);
  void list(const std::string& path);

  // Functions and methods.
  Ref call(ir::NodeKind kind, const std::string& target, const std::string& op, Arguments args);
  Ref function(const std::string& target, const std::string& op, Arguments args);
  Ref method(const std::string& name, const std::string& op, Arguments args);
  Ref size(const Ref& x, int dim);
  Ref binary(const std::string& name, const Ref& x, const Ref& y);  ///< "add", "mul", "le", ...
  Ref add(const Ref& x, const Ref& y) { return binary("add", x, y); }
  Ref multiply(const Ref& x, const Ref& y) { return binary("mul", x, y); }
  Ref host(const std::string& name, const Ref& a, const Ref& b);  ///< of whole numbers
  Ref power(const Ref& x, const Ref& exponent);
  Ref unary(const std::string& name, const Ref& x);  ///< torch.NAME
  Ref view(const Ref& x, std::vector<Ref> sizes);
  Ref reshape(const Ref& x, std::vector<Ref> sizes);
  Ref expand(const Ref& x, std::vector<Ref> sizes);
  Ref transpose(const Ref& x, int first, int second);
  Ref unsqueeze(const Ref& x, int dim);
  Ref contiguous(const Ref& x);
  Ref cat(std::vector<Ref> parts, int dim);
  Ref item(const Ref& x, std::vector<Ref> index);  ///< x[index, ...]
  Ref part(const Ref& tuple, int index);           ///< tuple[index]
  Ref arange(const Ref& end);
  Ref arange(const Ref& end, DType dtype);
  Ref to(const Ref& x, DType dtype);
  Ref to_device(const Ref& x, DType dtype);  ///< the same with the device, as a trace has it
  Ref to_layout(const Ref& x, DType dtype);  ///< the same with layout and device
  Ref dropped(const Ref& x, double rate);    ///< torch.nn.functional.dropout
  /// The mean of the values by the softmax of scores, [batch, tokens, heads, size].
  Ref attend(const Attention& attention);
  /// config[`key`] as a function, or as a layer at `path` where transformers uses one.
  Ref activation(const std::string& path, const std::string& key, const std::string& usual,
                 const Ref& x);

  // Tensors.
  bool has_tensor(const std::string& path) const { return weights_.has(path); }
  Ref tensor(const std::string& path, const Shape& shape);
  void buffer(const std::string& path, Array value);   ///< one that no file has
  Ref constant(const std::string& path, Array value);  ///< the node of a buffer
  Ref literal(Array value);                            ///< a tensor that the code of a model makes
  void tie(const std::string& path, const std::string& other);

  // Layers of torch.nn.
  Ref linear(const std::string& path, const Ref& x, std::int64_t inputs, std::int64_t outputs,
             bool bias = true);
  /// A linear layer with the weight of the embedding of `words`, and with a bias that the model has
  /// at `bias`, if that is not empty. Both are its own if config.json says that nothing is tied.
  Ref tied_linear(const std::string& path, const Ref& x, const std::string& words,
                  const std::string& bias = "");
  /// What a language model's `lm_head` says of the next token: it has the weight of the embedding
  /// of words at `words` if config.json says so.
  Ref word_scores(const Ref& x, const std::string& words, std::int64_t width, bool usually_tied);
  Ref embedding(const std::string& path, const Ref& x, std::int64_t rows, std::int64_t width,
                std::int64_t padding = -1);
  Ref layer_norm(const std::string& path, const Ref& x, std::int64_t width, double eps);
  Ref dropout(const std::string& path, const Ref& x, double rate);
  Ref convolution(const std::string& path, const Ref& x, const Convolution& sizes);
  Ref batch_norm(const std::string& path, const Ref& x, std::int64_t channels);
  /// A layer without tensors.
  Ref layer(const std::string& path, const std::string& class_name, const std::string& op,
            const Ref& x, Arguments attributes = {}, const std::string& input = "self");

 private:
  Ref add_node(ir::Node node);
  Ref add_layer(ir::Module module, const std::string& input, const Ref& x);
  void add_tensor(const std::string& path, Array value, bool is_parameter);
  void add_argument(ir::Module& module, const std::string& argument, const Shape& shape,
                    bool is_parameter = true);

  const Config& config_;
  Weights& weights_;
  const std::map<std::string, Array>& examples_;
  std::string classes_;
  int literals_ = 0;  ///< how many there are
  ir::Graph graph_;
};

}  // namespace mase::huggingface
