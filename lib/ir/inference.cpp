// SPDX-License-Identifier: Apache-2.0
// Joins the rules to one table, finds that of a node, and goes through whole graphs.
#include "ir/inference.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "ir/custom_op.hpp"
#include "ir/inference/host_values.hpp"
#include "ir/inference/rules.hpp"

namespace mase::ir {
namespace {

using Rule = Inferred (*)(const Call&);

template <class Key>
std::map<Key, Rule> rules_by() {
  std::map<Key, Rule> found;
  for (const auto& part :
       {product_rules(), window_rules(), layer_rules(), sequence_rules(), elementwise_rules(),
        reduction_rules(), reshape_rules(), movement_rules(), index_rules(), creation_rules(),
        host_rules(), outside_rules(), rearrangement_rules()})
    for (const InferenceRule& rule : part)
      if (const Key* key = std::get_if<Key>(&rule.of)) found.emplace(*key, rule.infer);
  return found;
}

/// The rule of the node's operator, or else of its family; nullptr without one.
Rule rule_of(const Call& call) {
  static const auto by_operator = rules_by<std::string_view>();
  static const auto by_family = rules_by<OpFamily>();
  if (const auto own = by_operator.find(call.op()); own != by_operator.end()) return own->second;
  const auto shared = by_family.find(classify(call.graph(), call.node()).family());
  return shared == by_family.end() ? nullptr : shared->second;
}

/// No shape has a negative size or more elements than 64 bits count.
void check_sizes(const Call& call, const ValueInfo& info) {
  call.elements(info.shape);
  for (const ValueInfo& element : info.elements) check_sizes(call, element);
}

Inferred by_rule(const Call& call) {
  const Rule rule = rule_of(call);
  if (!rule) return std::nullopt;
  try {
    Inferred result = rule(call);
    if (result) check_sizes(call, *result);
    if (!call.is_unknown()) return result;
  } catch (const Error&) {
    if (!call.is_unknown()) throw;  // else it comes from a number that stands for another
  }
  return std::nullopt;
}

/// What is known in the body of a leaf: its placeholders are the leaf's inputs, its tensors those
/// of the graph around it.
class BodyResults : public KnownResults {
 public:
  BodyResults(const Graph& graph, const Node& leaf, const KnownResults& outside)
      : graph_(graph), body_(*leaf.body) {
    const std::vector<LeafInput> inputs = leaf_inputs(graph, leaf);
    const std::vector<NodeId> places = body_.placeholders();
    if (inputs.size() != places.size())
      file_error("leaf '" + leaf.name + "': the body takes " + std::to_string(places.size()) +
                 " inputs, but the leaf has " + std::to_string(inputs.size()));
    for (std::size_t i = 0; i < places.size(); ++i) {
      infos_[places[i]] = outside.info(inputs[i].node);
      if (const auto number = outside.integer(inputs[i].node)) integers_[places[i]] = *number;
    }
  }

  const ValueInfo& info(NodeId id) const override {
    const auto found = infos_.find(id);
    if (found == infos_.end()) file_error("a node of the body is used before it is computed");
    return found->second;
  }
  std::optional<std::int64_t> integer(NodeId id) const override {
    const auto found = integers_.find(id);
    return found == integers_.end() ? std::nullopt : std::optional(found->second);
  }

  Inferred result() {
    for (const NodeId id : body_.order()) {
      const Node& node = body_.node(id);
      if (node.kind == NodeKind::placeholder) continue;
      const bool reads = node.kind == NodeKind::get_attr;
      Inferred found = infer(reads ? graph_ : body_, node, *this);
      if (!found || node.kind == NodeKind::output) return found;
      infos_[id] = std::move(*found);
      if (const auto number = host_integer(body_, node, *this)) integers_[id] = *number;
    }
    return std::nullopt;
  }

 private:
  const Graph& graph_;
  const Graph& body_;
  std::map<NodeId, ValueInfo> infos_;
  std::map<NodeId, std::int64_t> integers_;
};

/// The infos of a graph's own nodes, and the integers found so far.
class GraphResults : public KnownResults {
 public:
  explicit GraphResults(Graph& graph) : graph_(graph) {}

  const ValueInfo& info(NodeId id) const override { return std::as_const(graph_).node(id).info; }
  std::optional<std::int64_t> integer(NodeId id) const override {
    const auto found = integers_.find(id);
    return found == integers_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Whether the node's result could be inferred.
  bool fill(NodeId id) {
    Inferred found = infer(graph_, graph_.node(id), *this);
    if (!found) return false;
    graph_.node(id).info = std::move(*found);
    if (const auto number = host_integer(graph_, graph_.node(id), *this)) integers_[id] = *number;
    return true;
  }

 private:
  Graph& graph_;
  std::map<NodeId, std::int64_t> integers_;
};

Inferred placeholder_info(const Node& node) {
  if (node.info.kind == ValueInfo::Kind::unknown) return std::nullopt;
  return node.info;
}

Inferred tensor_of_graph(const Graph& graph, const Node& node) {
  const auto found = graph.tensors.find(node.target);
  if (found == graph.tensors.end())
    file_error("node '" + node.name + "': the graph has no tensor '" + node.target + "'");
  return ValueInfo::tensor(found->second.value.dtype(), found->second.value.shape());
}

}  // namespace

std::optional<ValueInfo> infer(const Graph& graph, const Node& node, const KnownResults& known) {
  if (node.kind == NodeKind::placeholder) return placeholder_info(node);
  if (node.kind == NodeKind::get_attr) return tensor_of_graph(graph, node);
  if (node.body) return BodyResults(graph, node, known).result();
  const Call call(graph, node, known);
  if (node.kind != NodeKind::output) return by_rule(call);
  call.require(!node.args.empty(), "the output has no value");
  return call.info_of(node.args.front().value);
}

bool is_of_elements(std::string_view op) {
  static const auto rules = elementwise_rules();
  return std::ranges::any_of(rules, [&](const InferenceRule& rule) {
    const auto* name = std::get_if<std::string_view>(&rule.of);
    return name && *name == base_op(op);
  });
}

std::optional<std::int64_t> host_integer(const Graph& graph, const Node& node,
                                         const KnownResults& known) {
  const auto value = HostValues(graph, known).result(node);
  if (!value || value->kind() != Value::Kind::integer) return std::nullopt;
  return value->as_int();
}

NodeId infer_all(Graph& graph) {
  GraphResults results(graph);
  for (const NodeId id : graph.order())
    if (!results.fill(id)) return id;
  return no_node;
}

}  // namespace mase::ir
