// SPDX-License-Identifier: Apache-2.0
// Matches the nodes that were imported last. What they leave unused is removed with the dead nodes.
#include "onnx/import/written_out.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "ir/op_table.hpp"
#include "onnx/import/importer.hpp"

namespace mase::onnx {
namespace {

/// A node's operand, and the number on its other side; no_node for other forms.
struct Affine {
  ir::NodeId of = ir::no_node;
  double number = 0;
};

class Matcher {
 public:
  explicit Matcher(Call& call) : graph_(call.importer().graph()) {}

  bool is(ir::NodeId id, std::string_view op) const {
    return id != ir::no_node && ir::base_op(graph_.node(id).op) == op;
  }
  /// The operand `argument` of a node of this operator; no_node for others.
  ir::NodeId operand(ir::NodeId id, std::string_view op, std::string_view argument) const {
    if (!is(id, op)) return ir::no_node;
    const ir::Value* value = graph_.node(id).find(argument);
    return value && value->is_node() ? value->node() : ir::no_node;
  }
  /// x op number.
  Affine with_number(ir::NodeId id, std::string_view op) const {
    if (!is(id, op)) return {};
    const ir::Value* other = graph_.node(id).find("other");
    if (!other || !other->is_number()) return {};
    return {operand(id, op, "self"), other->as_double()};
  }
  /// The factors of a product of products.
  void factors(ir::NodeId id, std::vector<ir::NodeId>& nodes, double& number) const {
    constexpr std::size_t most = 3;
    if (is(id, "aten::mul") && nodes.size() < most) {
      factors(operand(id, "aten::mul", "self"), nodes, number);
      const ir::Value& other = *graph_.node(id).find("other");
      if (other.is_node()) return factors(other.node(), nodes, number);
      number *= other.is_number() ? other.as_double() : std::nan("");
      return;
    }
    nodes.push_back(id);
  }
  /// x for 1 + erf(x / sqrt 2).
  ir::NodeId bell(ir::NodeId id) const {
    const Affine sum = with_number(id, "aten::add");
    const ir::NodeId scaled = operand(sum.of, "aten::erf", "self");
    if (sum.number != 1 || scaled == ir::no_node) return ir::no_node;
    if (const Affine quotient = with_number(scaled, "aten::div");
        quotient.of != ir::no_node && is_near(quotient.number, std::sqrt(2.0)))
      return quotient.of;
    const Affine product = with_number(scaled, "aten::mul");
    return is_near(product.number, std::sqrt(0.5)) ? product.of : ir::no_node;
  }
  static bool is_near(double a, double b) { return std::fabs(a - b) < 1e-5; }

 private:
  const ir::Graph& graph_;
};

/// The node of an operand; no_node for a constant.
ir::NodeId node_of(Call& call, std::size_t i) {
  return call.constant(i) ? ir::no_node : call.operand(i).node;
}

/// x of x (1 + erf(x / sqrt 2)) / 2, whose last product is the call.
ir::NodeId gelu_input(Call& call, const Matcher& matcher) {
  std::vector<ir::NodeId> nodes;
  double number = 1;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const ir::NodeId node = node_of(call, i);
    if (node != ir::no_node) {
      matcher.factors(node, nodes, number);
      continue;
    }
    const ir::Value value = call.scalar_or_ref(i, 0);
    if (!value.is_number()) return ir::no_node;
    number *= value.as_double();
  }
  if (nodes.size() != 2 || number != 0.5) return ir::no_node;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (const ir::NodeId x = matcher.bell(nodes[i]); x != ir::no_node && x == nodes[1 - i])
      return x;
  return ir::no_node;
}

/// A layer that takes the place of what was written out: its inner nodes may have taken the path.
ir::NodeId in_place(Call& call, std::string_view op, std::vector<ir::Argument> args,
                    ir::NodeId inner) {
  ir::Graph& graph = call.importer().graph();
  if (inner != ir::no_node && graph.node(inner).kind == ir::NodeKind::call_module &&
      graph.users(inner).empty()) {
    const std::string path = graph.node(inner).target;
    graph.erase(inner);
    graph.modules.erase(path);
  }
  return call.layer(op, std::move(args), TensorPaths{});
}

bool is_last_use(Call& call, std::size_t i) {
  return call.importer().uses(call.node().inputs[i]) == 1;
}

}  // namespace

bool activation_of_product(Call& call) {
  const Matcher matcher(call);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const ir::NodeId gate = node_of(call, i), x = node_of(call, 1 - i);
    if (x == ir::no_node || matcher.operand(gate, "aten::sigmoid", "self") != x) continue;
    if (!is_last_use(call, i)) continue;
    call.result(in_place(call, "aten::silu", {{"self", ref(x)}}, gate));
    return true;
  }
  const ir::NodeId x = gelu_input(call, matcher);
  if (x == ir::no_node) return false;
  call.written_with(5);
  call.result(call.layer("aten::gelu", {{"self", ref(x)}, {"approximate", "none"}}, TensorPaths{}));
  return true;
}

bool pool_of_mean(Call& call) {
  const std::string& class_name = call.scope().class_name;
  const std::int64_t rank = call.rank(0);
  if (!class_name.ends_with(".AdaptiveAvgPool2d") || rank < 3 || call.integer("keepdims", 1) == 0)
    return false;
  auto axes = call.axes(1, rank);
  if (!axes) return false;
  std::ranges::sort(*axes);
  if (*axes != std::vector<std::int64_t>{rank - 2, rank - 1}) return false;
  call.result(call.layer("aten::adaptive_avg_pool2d",
                         {{"self", call.ref(0)}, {"output_size", list_of({1, 1})}}, TensorPaths{}));
  return true;
}

namespace {

/// The mean over the last dimension that a node is, of which operand; no_node for other nodes.
ir::NodeId mean_of(const ir::Graph& graph, const Matcher& matcher, ir::NodeId id) {
  const ir::NodeId x = matcher.operand(id, "aten::mean", "self");
  if (x == ir::no_node) return ir::no_node;
  const auto rank = static_cast<std::int64_t>(graph.node(x).info.shape.size());
  const ir::Value* dims = graph.node(id).find("dim");
  const ir::Value* keeps = graph.node(id).find("keepdim");
  const bool last = dims && dims->kind() == ir::Value::Kind::list && dims->items().size() == 1 &&
                    dims->items()[0] == ir::Value(rank - 1);
  return last && keeps && *keeps == ir::Value(true) ? x : ir::no_node;
}

/// The square that a node is, of which operand.
ir::NodeId square_of(const ir::Graph& graph, const Matcher& matcher, ir::NodeId id) {
  const ir::NodeId factor = matcher.operand(id, "aten::mul", "self");
  if (factor != ir::no_node && matcher.operand(id, "aten::mul", "other") == factor) return factor;
  const ir::NodeId base = matcher.operand(id, "aten::pow", "self");
  const ir::Value* exponent = base == ir::no_node ? nullptr : graph.node(id).find("exponent");
  return exponent && exponent->is_number() && exponent->as_double() == 2 ? base : ir::no_node;
}

/// What a layer norm normalizes, and with what.
struct Norm {
  ir::NodeId x = ir::no_node;
  double eps = 0;
};

/// (x - mean x) / sqrt(mean (x - mean x)^2 + eps).
Norm normalized(const ir::Graph& graph, const Matcher& matcher, ir::NodeId id) {
  const ir::NodeId centred = matcher.operand(id, "aten::div", "self");
  const ir::NodeId deviation = matcher.operand(id, "aten::div", "other");
  const Affine variance =
      matcher.with_number(matcher.operand(deviation, "aten::sqrt", "self"), "aten::add");
  const ir::NodeId x = matcher.operand(centred, "aten::sub", "self");
  if (x == ir::no_node || variance.of == ir::no_node ||
      mean_of(graph, matcher, matcher.operand(centred, "aten::sub", "other")) != x)
    return {};
  const ir::NodeId square = mean_of(graph, matcher, variance.of);
  const ir::NodeId root = square == ir::no_node ? square : square_of(graph, matcher, square);
  // Some exporters write the difference twice.
  const bool same = root == centred ||
                    (matcher.operand(root, "aten::sub", "self") == x &&
                     mean_of(graph, matcher, matcher.operand(root, "aten::sub", "other")) == x);
  return root != ir::no_node && same ? Norm{x, variance.number} : Norm{};
}

}  // namespace

bool norm_of_sum(Call& call) {
  ir::Graph& graph = call.importer().graph();
  const Matcher matcher(call);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const ir::NodeId product = node_of(call, i);
    if (!matcher.is(product, "aten::mul") || !call.constant(1 - i)) continue;
    // The weight is a tensor that a node reads, on either side.
    for (const std::string_view side : {"self", "other"}) {
      const ir::NodeId inner = matcher.operand(product, "aten::mul", side);
      const ir::NodeId weight =
          matcher.operand(product, "aten::mul", side == "self" ? "other" : "self");
      if (inner == ir::no_node || weight == ir::no_node ||
          graph.node(weight).kind != ir::NodeKind::get_attr)
        continue;
      const Norm norm = normalized(graph, matcher, inner);
      if (norm.x == ir::no_node) continue;
      const std::int64_t width = graph.node(norm.x).info.shape.back();
      if (graph.node(weight).info.shape != Shape{width} || call.shape(1 - i) != Shape{width})
        continue;
      call.written_with(9);
      const std::string bias =
          call.store("aten::layer_norm", "bias", *call.operand(1 - i).constant);
      call.result(call.layer("aten::layer_norm",
                             {{"input", ref(norm.x)},
                              {"normalized_shape", list_of({width})},
                              {"eps", norm.eps},
                              {"cudnn_enable", true}},
                             TensorPaths{{"weight", graph.node(weight).target}, {"bias", bias}}));
      return true;
    }
  }
  return false;
}

}  // namespace mase::onnx
