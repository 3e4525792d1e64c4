// SPDX-License-Identifier: Apache-2.0
// Puts a chain of plain nodes before every fused node, and lets its users read the end of the
// chain.
#include "passes/transform/expand_attention.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "ir/op_table.hpp"
#include "passes/rewriting/node_writer.hpp"

namespace mase::passes {
namespace {

constexpr std::string_view product_op = "aten::scaled_dot_product_attention";
constexpr std::string_view attention_op = "aten::_native_multi_head_attention";
constexpr std::string_view encoder_op = "aten::_transformer_encoder_layer_fwd";

Shape with(Shape shape, std::size_t from_end, std::int64_t size) {
  shape.at(shape.size() - from_end) = size;
  return shape;
}

Shape swapped(Shape shape, std::size_t a, std::size_t b) {
  std::swap(shape.at(a), shape.at(b));
  return shape;
}

/// The layer of a tensor: "self_attn" for "self_attn.in_proj_weight".
std::string layer_of(const std::string& tensor) {
  const auto dot = tensor.rfind('.');
  return dot == std::string::npos ? "" : tensor.substr(0, dot);
}

/// Writes the nodes that replace one fused node.
class Expansion : NodeWriter {
 public:
  Expansion(ir::Graph& graph, ir::NodeId fused)
      : NodeWriter(graph, fused, graph.node(graph.inputs(fused).front()).info.dtype),
        graph_(graph),
        fused_(fused),
        name_(graph.node(fused).name) {}

  /// softmax(q k^T * scale + mask) v on [..., length, size]: scaled_dot_product_attention.
  ir::NodeId product() {
    if (const ir::Value* dropout = find("dropout_p"); dropout && dropout->as_double() != 0)
      refuse("with dropout");
    begin(name_);
    const ir::NodeId query = given("query");
    ir::NodeId key = given("key"), value = given("value");
    if (flag("enable_gqa", false)) {
      key = repeated(key, query, "key");
      value = repeated(value, query, "value");
    }
    const ir::Value* scale = find("scale");
    const double factor = scale && !scale->is_none() ? scale->as_double()
                                                     : 1 / std::sqrt(double(shape(query).back()));
    ir::NodeId scores = scaled_scores(query, key, factor);
    if (const ir::Value* mask = find("attn_mask"); mask && mask->is_node())
      scores = added_mask(scores, mask->node());
    if (flag("is_causal", false)) scores = causal(scores, query, key);
    return weighted(softmax(scores), value);
  }

  /// torch.nn.MultiheadAttention on [batch, length, E]; users of its tuple get the results.
  void attention() {
    const ir::NodeId query = given("query");
    if (given("key") != query || given("value") != query)
      refuse("between several tensors in one operator");
    const auto [result, weights] = attend(query, find("num_head")->as_int());
    for (const ir::NodeId user : graph_.users(fused_)) {
      const ir::Node& reader = graph_.node(user);
      const ir::Value* index = reader.op == "mase::getitem" ? reader.find("index") : nullptr;
      if (!index || index->kind() != ir::Value::Kind::integer)
        refuse("whose results '" + reader.name + "' reads as one");
      graph_.replace_uses(user, index->as_int() == 0 ? result : reported(weights));
      graph_.erase(user);
    }
  }

  /// torch.nn.TransformerEncoderLayer, with the norms before or after its two halves.
  ir::NodeId encoder_layer() {
    const ir::NodeId source = given("src");
    const bool norm_first = flag("norm_first", false);
    const auto half = [&](ir::NodeId x, const char* which, auto&& layers) {
      const ir::NodeId inside = norm_first ? norm(x, which) : x;
      const ir::NodeId result = layers(inside);
      begin_layer("norm_weight_" + std::string(which));
      const ir::NodeId sum = call("aten::add.Tensor", "residual",
                                  {{"self", ref(x)}, {"other", ref(result)}}, shape(x));
      return norm_first ? sum : norm(sum, which);
    };
    const ir::NodeId attended = half(
        source, "1", [&](ir::NodeId x) { return attend(x, find("num_heads")->as_int()).result; });
    return half(attended, "2", [&](ir::NodeId x) {
      const ir::NodeId inner = layer("ffn_weight_1", "ffn_bias_1", "", x);
      const char* activation = flag("use_gelu", false) ? "aten::gelu" : "aten::relu";
      const ir::NodeId active =
          call(activation, activation + 6, {{"self", ref(inner)}}, shape(inner));
      return layer("ffn_weight_2", "ffn_bias_2", "", active);
    });
  }

 private:
  struct Attended {
    ir::NodeId result, weights;
  };

  const ir::Value* find(std::string_view argument) const {
    return graph_.node(fused_).find(argument);
  }
  bool flag(std::string_view argument, bool otherwise) const {
    const ir::Value* value = find(argument);
    return value && !value->is_none() ? value->as_bool() : otherwise;
  }
  ir::NodeId given(std::string_view argument) const {
    const ir::Value* value = find(argument);
    if (!value || !value->is_node()) refuse("without the tensor '" + std::string(argument) + "'");
    return value->node();
  }
  Shape shape(ir::NodeId id) const {
    const ir::ValueInfo& info = graph_.node(id).info;
    if (!info.is_tensor() || info.shape.size() < 2) refuse("of tensors with unknown shapes");
    return info.shape;
  }
  [[noreturn]] void refuse(const std::string& what) const {
    unsupported_error("node '" + name_ + "' is attention " + what +
                      ", which expand_attention cannot take apart");
  }

  /// Names the following nodes after the layer of a weight, or after the fused node.
  void begin_layer(const std::string& weight) {
    const std::string* tensor =
        weight.empty() ? nullptr : graph_.tensor_of(graph_.node(fused_), weight);
    const std::string path = tensor ? layer_of(*tensor) : "";
    begin(path.empty() ? name_ : ir::node_name_of(path));
  }

  ir::NodeId boolean(std::string_view op, const std::string& part, std::vector<ir::Argument> args,
                     Shape shape) {
    return call(op, part, std::move(args), ir::ValueInfo::tensor(DType::boolean, std::move(shape)));
  }

  ir::NodeId layer(const std::string& weight, const std::string& bias, const std::string& part,
                   ir::NodeId x) {
    begin_layer(weight);
    std::vector<ir::Argument> args{{"input", ref(x)}, {"weight", *find(weight)}};
    if (const ir::Value* value = find(bias); value && value->is_node())
      args.push_back({"bias", *value});
    return call("aten::linear", part, std::move(args), with(shape(x), 1, shape(given(weight))[0]));
  }

  ir::NodeId norm(ir::NodeId x, const std::string& which) {
    begin_layer("norm_weight_" + which);
    std::vector<ir::Argument> args{{"input", ref(x)},
                                   {"normalized_shape", ir::Value::list({shape(x).back()})},
                                   {"weight", ref(given("norm_weight_" + which))},
                                   {"bias", ref(given("norm_bias_" + which))}};
    if (const ir::Value* eps = find("eps")) args.push_back({"eps", *eps});
    return call("aten::layer_norm", "", std::move(args), shape(x));
  }

  Attended attend(ir::NodeId x, std::int64_t heads) {
    const ir::NodeId projected = layer("qkv_weight", "qkv_bias", "in_proj", x);
    const std::vector<ir::NodeId> parts = thirds(projected);
    std::vector<ir::NodeId> by_head;
    for (std::size_t i = 0; i < 3; ++i) by_head.push_back(split_heads(parts[i], heads));
    const double scale = 1 / std::sqrt(double(shape(by_head[0]).back()));
    ir::NodeId scores = scaled_scores(by_head[0], by_head[1], scale);
    if (const ir::Value* mask = find("mask"); mask && mask->is_node())
      scores = masked(scores, fitting(mask->node(), shape(scores)));
    const ir::NodeId weights = softmax(scores);
    const ir::NodeId context = weighted(weights, by_head[2]);
    const ir::NodeId swapped_back =
        call("aten::transpose.int", "rows", {{"self", ref(context)}, {"dim0", 1}, {"dim1", 2}},
             swapped(shape(context), 1, 2));
    const ir::NodeId joined = call("aten::flatten.using_ints", "joined",
                                   {{"self", ref(swapped_back)}, {"start_dim", 2}}, shape(x));
    const ir::NodeId result = layer("proj_weight", "proj_bias", "", joined);
    begin_layer("qkv_weight");
    return {result, weights};
  }

  std::vector<ir::NodeId> thirds(ir::NodeId projected) {
    const Shape part = with(shape(projected), 1, shape(projected).back() / 3);
    ir::ValueInfo list;
    list.kind = ir::ValueInfo::Kind::list;
    list.elements.assign(3, ir::ValueInfo::tensor(graph_.node(projected).info.dtype, part));
    const ir::NodeId chunks =
        call("aten::chunk", "chunk", {{"self", ref(projected)}, {"chunks", 3}, {"dim", -1}}, list);
    std::vector<ir::NodeId> items;
    int index = 0;
    for (const char* which : {"query", "key", "value"})
      items.push_back(
          call("mase::getitem", which, {{"value", ref(chunks)}, {"index", index++}}, part));
    return items;
  }

  /// [batch, length, E] as [batch, heads, length, E / heads].
  ir::NodeId split_heads(ir::NodeId x, std::int64_t heads) {
    const Shape whole = shape(x);
    if (whole.size() != 3) refuse("of tensors that are not [batch, length, size]");
    if (heads < 1 || whole[2] % heads != 0)
      refuse("of " + std::to_string(heads) + " heads, which do not divide the size " +
             std::to_string(whole[2]));
    const std::int64_t size = whole[2] / heads;
    const Shape apart{whole[0], whole[1], heads, size};
    const ir::NodeId split =
        call("aten::unflatten.int", "heads",
             {{"self", ref(x)}, {"dim", -1}, {"sizes", ir::Value::list({heads, size})}}, apart);
    return call("aten::transpose.int", "by_head", {{"self", ref(split)}, {"dim0", 1}, {"dim1", 2}},
                swapped(apart, 1, 2));
  }

  ir::NodeId scaled_scores(ir::NodeId query, ir::NodeId key, double scale) {
    const Shape keys = shape(key);
    const ir::NodeId turned = call("aten::transpose.int", "key_transposed",
                                   {{"self", ref(key)}, {"dim0", -2}, {"dim1", -1}},
                                   swapped(keys, keys.size() - 2, keys.size() - 1));
    const Shape square = with(shape(query), 1, keys[keys.size() - 2]);
    const ir::NodeId scores =
        call("aten::matmul", "scores", {{"self", ref(query)}, {"other", ref(turned)}}, square);
    return call("aten::mul.Scalar", "scaled", {{"self", ref(scores)}, {"other", scale}}, square);
  }
  ir::NodeId softmax(ir::NodeId scores) {
    return call("aten::softmax.int", "softmax", {{"self", ref(scores)}, {"dim", -1}},
                shape(scores));
  }
  ir::NodeId weighted(ir::NodeId weights, ir::NodeId value) {
    return call("aten::matmul", "context", {{"self", ref(weights)}, {"other", ref(value)}},
                with(shape(weights), 1, shape(value).back()));
  }

  ir::NodeId masked(ir::NodeId scores, ir::NodeId mask) {
    return call("aten::masked_fill.Scalar", "masked",
                {{"self", ref(scores)},
                 {"mask", ref(mask)},
                 {"value", -std::numeric_limits<double>::infinity()}},
                shape(scores));
  }
  /// Refuses a mask that would change the shape of the scores, which the softmax must keep.
  void check_mask(const Shape& scores, const Shape& mask) const {
    bool stretches = mask.size() <= scores.size();
    for (std::size_t d = 0; stretches && d < mask.size(); ++d)
      stretches = mask.rbegin()[d] == 1 || mask.rbegin()[d] == scores.rbegin()[d];
    if (!stretches)
      refuse("with a mask " + shape_text(mask) + ", which does not broadcast to its scores " +
             shape_text(scores));
  }
  ir::NodeId inverted(ir::NodeId mask) {
    return boolean("aten::bitwise_not", "hidden", {{"self", ref(mask)}}, shape(mask));
  }
  /// Applies attn_mask: true keeps a score, and numbers are added to it.
  ir::NodeId added_mask(ir::NodeId scores, ir::NodeId mask) {
    check_mask(shape(scores), graph_.node(mask).info.shape);
    if (graph_.node(mask).info.dtype == DType::boolean) return masked(scores, inverted(mask));
    return call("aten::add.Tensor", "masked", {{"self", ref(scores)}, {"other", ref(mask)}},
                shape(scores));
  }
  /// Hides the keys after each query.
  ir::NodeId causal(ir::NodeId scores, ir::NodeId query, ir::NodeId key) {
    std::vector<ir::Value> sizes;
    for (const ir::NodeId rows : {query, key}) sizes.push_back(ref(size(rows, -2, "length")));
    const Shape square{shape(query).rbegin()[1], shape(key).rbegin()[1]};
    constexpr int boolean_type = 11;  // at::ScalarType::Bool
    const ir::NodeId all = boolean(
        "aten::ones", "all", {{"size", ir::Value::list(sizes)}, {"dtype", boolean_type}}, square);
    const ir::NodeId seen = boolean("aten::tril", "seen", {{"self", ref(all)}}, square);
    return masked(scores, inverted(seen));
  }
  /// The boolean mask behind a mask of numbers. torch.nn makes the numbers by filling zeros with
  /// -inf, and adds two masks in one shape.
  std::optional<ir::NodeId> truths_of(ir::NodeId id) {
    const ir::Node mask = graph_.node(id);  // a copy: the new nodes move it
    const std::string_view op = ir::base_op(mask.op);
    if (op == "aten::masked_fill") return filled_truths(mask);
    if (op == "aten::add") return either_truths(mask);
    if (op != "aten::view" && op != "aten::reshape" && op != "aten::expand") return std::nullopt;
    const auto truths = truths_of(mask.find("self")->node());
    if (!truths) return std::nullopt;
    std::vector<ir::Argument> args = mask.args;
    args.front().value = ref(*truths);
    return boolean(mask.op, "hidden", std::move(args), mask.info.shape);
  }
  std::optional<ir::NodeId> filled_truths(const ir::Node& mask) const {
    const ir::Value &zeros = *mask.find("self"), &truths = *mask.find("mask");
    const ir::Value& value = *mask.find("value");
    if (!zeros.is_node() || ir::base_op(graph_.node(zeros.node()).op) != "aten::zeros_like" ||
        value.is_node() || value.as_double() == 0)
      return std::nullopt;
    return truths.node();
  }
  std::optional<ir::NodeId> either_truths(const ir::Node& sum) {
    const ir::Value &self = *sum.find("self"), &other = *sum.find("other");
    const ir::Value* alpha = sum.find("alpha");
    if (!self.is_node() || !other.is_node() || (alpha && !(*alpha == ir::Value(1))))
      return std::nullopt;
    const auto a = truths_of(self.node()), b = truths_of(other.node());
    if (!a || !b) return std::nullopt;
    return boolean("aten::logical_or", "hidden", {{"self", ref(*a)}, {"other", ref(*b)}},
                   sum.info.shape);
  }

  /// The mask of an attention layer, whose nonzero elements hide keys, in the rank of the scores:
  /// type 0 is [length, length], 1 is [batch, length], 2 is [batch, heads, length, length].
  ir::NodeId fitting(ir::NodeId mask, const Shape& scores) {
    Shape size = shape(mask);
    if (const auto truths = truths_of(mask))
      mask = *truths;
    else if (graph_.node(mask).info.dtype != DType::boolean)
      mask = boolean("aten::ne.Scalar", "hidden", {{"self", ref(mask)}, {"other", 0}}, size);
    const ir::Value* type = find("mask_type");
    const int missing = type && !type->is_none() && type->as_int() == 1 ? 2 : 0;
    for (int i = 0; i < missing; ++i) {
      size.insert(size.begin() + 1, 1);
      mask = boolean("aten::unsqueeze", "hidden", {{"self", ref(mask)}, {"dim", 1}}, size);
    }
    check_mask(scores, size);
    return mask;
  }

  /// Repeats each head of keys or values for the group of query heads that share it.
  ir::NodeId repeated(ir::NodeId x, ir::NodeId query, const std::string& part) {
    Shape size = shape(x);
    const std::int64_t heads = shape(query).rbegin()[2];
    if (heads % size.rbegin()[2] != 0)
      refuse("of " + std::to_string(heads) + " heads of queries, which the " +
             std::to_string(size.rbegin()[2]) + " of its " + part + "s do not divide");
    const std::int64_t times = heads / size.rbegin()[2];
    if (times == 1) return x;
    Shape apart = size;
    apart.insert(apart.end() - 2, 1);
    const ir::NodeId single = call("aten::unsqueeze", part, {{"self", ref(x)}, {"dim", -3}}, apart);
    std::vector<ir::Value> sizes(apart.size(), -1);
    sizes[sizes.size() - 3] = times;
    const ir::NodeId each =
        call("aten::expand", part, {{"self", ref(single)}, {"size", ir::Value::list(sizes)}},
             with(apart, 3, times));
    return call("aten::flatten.using_ints", part,
                {{"self", ref(each)}, {"start_dim", -4}, {"end_dim", -3}}, with(size, 3, heads));
  }

  /// The weights that the layer returns: their average over the heads, unless all are wanted.
  ir::NodeId reported(ir::NodeId weights) {
    if (!flag("average_attn_weights", true)) return weights;
    Shape size = shape(weights);
    size.erase(size.begin() + 1);
    return call("aten::mean.dim", "weights",
                {{"self", ref(weights)}, {"dim", ir::Value::list({1})}}, size);
  }

  ir::Graph& graph_;
  ir::NodeId fused_;
  std::string name_;
};

/// Takes a node apart when it can be; returns true when it did.
bool expand(ir::Graph& graph, ir::NodeId id, bool products) {
  const ir::Node& node = graph.node(id);
  if (!node.formats.empty()) return false;
  const std::string op(ir::base_op(node.op));
  if (op == attention_op) {
    Expansion(graph, id).attention();
  } else if (op == encoder_op) {
    graph.replace_uses(id, Expansion(graph, id).encoder_layer());
  } else if (op == product_op && products) {
    graph.replace_uses(id, Expansion(graph, id).product());
  } else {
    return false;
  }
  graph.erase(id);
  return true;
}

}  // namespace

bool ExpandAttention::applies(const ir::Node& node) {
  const std::string_view op = ir::base_op(node.op);
  return op == product_op || op == attention_op || op == encoder_op;
}

Result ExpandAttention::run(ir::Graph& graph, const Options& options, PassContext&) {
  Result result;
  Tree expanded = Tree::list();
  ir::Graph work = graph;
  for (const ir::NodeId id : graph.order()) {
    if (!work.contains(id)) continue;
    const std::string name = work.node(id).name;
    if (expand(work, id, options.products)) expanded.push_back(name);
  }
  if (expanded.size() > 0) work.remove_dead_nodes();
  graph = std::move(work);
  result.changed = expanded.size() > 0;
  result.info["expanded"] = std::move(expanded);
  return result;
}

}  // namespace mase::passes
