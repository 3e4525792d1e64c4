// SPDX-License-Identifier: Apache-2.0
// What can be stored is chosen from the output backwards, run as a graph of its own, and put in.
#include "passes/transform/fold_constants.hpp"

#include <algorithm>
#include <ranges>
#include <set>

#include "base/error.hpp"
#include "passes/constants/constant_nodes.hpp"
#include "passes/constants/memory_order.hpp"

namespace mase::passes {
namespace {

/// Samples in the batch that parts are run with: several, so that their rows can be compared.
constexpr std::int64_t samples = 2;

bool computes(const ir::Node& node) {
  return node.kind == ir::NodeKind::call_function || node.kind == ir::NodeKind::call_method ||
         node.kind == ir::NodeKind::call_module;
}

/// Whether a node gives the same bits and order of memory however the elements of `tensor` lie.
bool reads_values_alone(const ir::Graph& graph, const ir::Node& node) {
  if (node.kind == ir::NodeKind::output) return true;
  const ir::Classified what = ir::classify(graph, node);
  return what.family() == ir::OpFamily::elementwise && what.op != "pow";
}

/// The nodes to store: constant, read by a node that stays, and fit to be stored.
class Choice {
 public:
  Choice(const ir::Graph& graph, const FoldConstants::Options& options)
      : graph_(graph),
        options_(options),
        powers_(graph),
        constants_(graph, powers_, options.parameters),
        orders_(memory_orders(graph)) {
    for (const ir::NodeId id : graph.order() | std::views::reverse) visit(graph.node(id));
    std::ranges::reverse(stored_);
  }

  const ir::Graph& graph() const { return graph_; }
  const std::vector<ir::NodeId>& stored() const { return stored_; }
  const std::vector<std::string>& notes() const { return notes_; }
  Constancy constancy(ir::NodeId id) const { return constants_.of(id); }

  /// Whether rows that overlap in memory do for the readers; else they are copied.
  bool may_overlap(ir::NodeId id) const {
    return std::ranges::all_of(readers_.at(id), [&](ir::NodeId reader) {
      const ir::Node& node = graph_.node(reader);
      return node.kind == ir::NodeKind::output ||
             (reads_values_alone(graph_, node) && graph_.inputs(reader).front() != id);
    });
  }

 private:
  void visit(const ir::Node& node) {
    const bool varies = constants_.of(node.id) == Constancy::varies;
    if (!varies && !readers_.contains(node.id)) return;
    if (!varies && is_fit(node)) return stored_.push_back(node.id);
    for (const ir::NodeId input : graph_.inputs(node.id)) readers_[input].push_back(node.id);
  }

  bool is_fit(const ir::Node& node) {
    if (!computes(node) || !node.info.is_tensor() || constants_.makes_rows(node)) return false;
    return keeps_order(node) && is_small(node);
  }

  bool keeps_order(const ir::Node& node) const {
    const MemoryOrder order = orders_.at(node.id);
    if (order != MemoryOrder::gaps) return order == MemoryOrder::dense;
    return std::ranges::all_of(readers_.at(node.id), [&](ir::NodeId id) {
      return reads_values_alone(graph_, graph_.node(id));
    });
  }

  bool is_small(const ir::Node& node) {
    const bool rows = constants_.of(node.id) == Constancy::rows;
    const std::int64_t elements = numel(node.info.shape) / (rows ? powers_.batch() : 1);
    if (elements <= options_.most_elements) return true;
    notes_.push_back("node '" + node.name + "' stays a computation: its " +
                     std::to_string(elements) + " elements are more than most_elements (" +
                     std::to_string(options_.most_elements) + ")");
    return false;
  }

  const ir::Graph& graph_;
  const FoldConstants::Options& options_;
  BatchPowers powers_;
  ConstantNodes constants_;
  std::map<ir::NodeId, MemoryOrder> orders_;
  std::map<ir::NodeId, std::vector<ir::NodeId>> readers_;  ///< nodes that stay
  std::vector<ir::NodeId> stored_;
  std::vector<std::string> notes_;
};

/// What the node is in a run of `samples`, where it reads sizes: numbers; else itself.
ir::Value in_run(const Choice& choice, ir::NodeId id) {
  const auto read = size_read(choice.graph(), choice.graph().node(id));
  if (!read || choice.constancy(id) == Constancy::varies) return ir::NodeRef{id};
  if (choice.constancy(id) == Constancy::rows) return samples;
  const Shape& shape = choice.graph().node(read->tensor).info.shape;
  if (read->dim) return shape[*read->dim];
  return ir::Value::list({shape.begin(), shape.end()});
}

/// The stored nodes as a tuple, and what they are made from: a graph without inputs.
ir::Graph constant_part(const Choice& choice) {
  const ir::Graph& graph = choice.graph();
  ir::Graph part = graph;
  ir::Value::List results;
  ir::ValueInfo tuple;
  tuple.kind = ir::ValueInfo::Kind::tuple;
  for (const ir::NodeId id : choice.stored()) {
    results.emplace_back(ir::NodeRef{id});
    tuple.elements.push_back(graph.node(id).info);
  }
  ir::Node& output = part.node(part.output());
  output.info = std::move(tuple);
  *output.find("value") = ir::Value::tuple(std::move(results));
  for (const ir::NodeId id : graph.order())
    for (ir::Argument& argument : part.node(id).args)
      argument.value.change_nodes([&](ir::NodeId used) { return in_run(choice, used); });
  part.remove_dead_nodes();
  for (const ir::NodeId id : part.placeholders()) part.erase(id);
  part.guards.clear();
  ir::remove_unused_tensors(part);
  return part;
}

/// One row of several that have the same bits; nothing where they differ.
std::optional<Array> common_row(const Array& rows) {
  const Array first = rows.rows(0, 1);
  for (std::int64_t i = 1; i < rows.shape().front(); ++i)
    if (!rows.rows(i, 1).same_bits(first)) return std::nullopt;
  return first;
}

/// Puts tensors in the place of nodes.
class Folding {
 public:
  Folding(ir::Graph& graph, const Choice& choice) : graph_(graph), choice_(choice) {}

  void fold(ir::NodeId id, Array value) {
    const bool rows = choice_.constancy(id) == Constancy::rows;
    const Shape whole = graph_.node(id).info.shape;
    if (rows) {
      const auto row = common_row(value);
      if (!row) return;
      value = *row;
    }
    add_guards(id);
    const auto batch = rows ? batch_before(id) : std::nullopt;
    become_tensor(graph_.node(id), std::move(value));
    if (batch) repeat_row(id, *batch, whole);
    folded_.push_back(graph_.node(id).name);
  }
  Tree take_folded() { return std::move(folded_); }

 private:
  const ir::Graph& before() const { return choice_.graph(); }

  void become_tensor(ir::Node& node, Array value) {
    std::string path = "folded_" + node.name;
    while (is_taken(path)) path += '_';
    node.kind = ir::NodeKind::get_attr;
    node.target = path;
    node.op.clear();
    node.args.clear();
    node.info = ir::ValueInfo::tensor(value.dtype(), value.shape());
    graph_.set_tensor(path, {std::move(value)});
  }

  bool is_taken(const std::string& path) const {
    return graph_.tensors.contains(path) || graph_.modules.contains(path) ||
           graph_.containers.contains(path);
  }

  /// [1, ...] for every sample, in the place of the rows that there were.
  void repeat_row(ir::NodeId row, ir::NodeId batch, const Shape& whole) {
    const bool overlap = choice_.may_overlap(row);
    ir::Value::List times(whole.size(), overlap ? -1 : 1);
    times.front() = ir::NodeRef{batch};
    ir::Node node;
    node.kind = ir::NodeKind::call_method;
    node.target = overlap ? "expand" : "repeat";
    node.op = "aten::" + node.target;
    node.name = graph_.node(row).name + "_" + node.target;
    node.args = {{"self", ir::NodeRef{row}},
                 {overlap ? "size" : "repeats", ir::Value::list(std::move(times))}};
    node.info = ir::ValueInfo::tensor(graph_.node(row).info.dtype, whole);
    const auto& order = graph_.order();
    const ir::NodeId next = *std::next(std::ranges::find(order, row));
    graph_.replace_uses(row, graph_.add(std::move(node), next));
  }

  /// Every node that this one is made from, itself included, inputs and what sizes are read of too.
  std::set<ir::NodeId> sources(ir::NodeId id) const {
    std::set<ir::NodeId> found{id};
    for (const ir::NodeId node : before().order() | std::views::reverse)
      if (found.contains(node))
        for (const ir::NodeId input : before().inputs(node)) found.insert(input);
    return found;
  }

  std::optional<ir::NodeId> batch_before(ir::NodeId id) const {
    for (const ir::NodeId source : sources(id)) {
      if (choice_.constancy(source) == Constancy::rows && !before().node(source).info.is_tensor())
        return source;
    }
    MASE_CHECK(false, "fold_constants: '" + graph_.node(id).name + "' has rows without a batch");
  }

  /// Other sizes than the traced ones, of what the node's sizes were read of, are refused.
  void add_guards(ir::NodeId id) {
    for (const ir::NodeId source : sources(id)) {
      const auto read = size_read(before(), before().node(source));
      if (!read || choice_.constancy(source) != Constancy::fixed) continue;
      const ir::Node& tensor = before().node(read->tensor);
      if (tensor.kind == ir::NodeKind::placeholder && read->dim)
        guard(tensor, *read->dim);
      else
        guard_all(read->tensor);
    }
  }

  void guard_all(ir::NodeId tensor) {
    for (const ir::NodeId source : sources(tensor)) {
      const ir::Node& node = before().node(source);
      if (node.kind != ir::NodeKind::placeholder) continue;
      for (std::size_t d = 1; d < node.info.shape.size(); ++d) guard(node, d);
    }
  }

  void guard(const ir::Node& input, std::size_t dim) {
    ir::Guard guard{"fold_constants", "size(" + input.name + ", " + std::to_string(dim) + ") is " +
                                          std::to_string(input.info.shape[dim])};
    if (std::ranges::find(graph_.guards, guard) == graph_.guards.end())
      graph_.guards.push_back(std::move(guard));
  }

  ir::Graph& graph_;
  const Choice& choice_;
  Tree folded_ = Tree::list();
};

ir::Results evaluate(const Choice& choice, const PassContext& context) {
  if (!context.evaluator)
    config_error("node '" + choice.graph().node(choice.stored().front()).name +
                 "' can be folded, but running it needs LibTorch; see `mase doctor`");
  return context.evaluator(constant_part(choice), ir::Level::floating)->run({});
}

}  // namespace

Result FoldConstants::run(ir::Graph& graph, const Options& options, PassContext& context) {
  const ir::Graph before = graph;
  const Choice choice(before, options);
  Result result;
  result.notes = choice.notes();
  Folding folding(graph, choice);
  if (!choice.stored().empty()) {
    ir::Results values = evaluate(choice, context);
    for (std::size_t i = 0; i < values.size(); ++i)
      folding.fold(choice.stored()[i], std::move(values[i].second));
    graph.remove_dead_nodes();
    ir::remove_unused_tensors(graph);
  }
  Tree folded = folding.take_folded();
  result.changed = folded.size() > 0;
  result.info["folded"] = std::move(folded);
  result.info["nodes_before"] = before.order().size();
  result.info["nodes_after"] = graph.order().size();
  return result;
}

}  // namespace mase::passes
