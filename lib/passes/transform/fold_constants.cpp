// SPDX-License-Identifier: Apache-2.0
// Chooses nodes to store from the output backwards, runs them separately, and puts in the results.
#include "passes/transform/fold_constants.hpp"

#include <algorithm>
#include <ranges>
#include <set>

#include "base/error.hpp"
#include "ir/folding.hpp"
#include "passes/constants/equal_elements.hpp"
#include "passes/constants/like_read.hpp"
#include "passes/constants/own_rows.hpp"
#include "passes/constants/stored_nodes.hpp"
#include "passes/rewriting/node_writer.hpp"

namespace mase::passes {
namespace {

/// One of several rows with the same bits; nullopt when rows differ.
std::optional<Array> common_row(const Array& rows) {
  const Array first = rows.rows(0, 1);
  for (std::int64_t i = 1; i < rows.shape().front(); ++i)
    if (!rows.rows(i, 1).same_bits(first)) return std::nullopt;
  return first;
}

/// Replaces nodes by tensors.
class Folding {
 public:
  Folding(ir::Graph& graph, const StoredNodes& nodes) : graph_(graph), nodes_(nodes) {}

  void fold(const StoredNode& stored, Array value) {
    const ir::NodeId id = stored.id;
    const bool rows = nodes_.constancy(id) == Constancy::rows;
    const Shape whole = graph_.node(id).info.shape;
    if (rows) {
      const auto row = common_row(value);
      if (!row) return;
      value = *row;
    }
    add_guards(id);
    const ir::NodeId batch = rows ? batch_before(id) : ir::no_node;
    become_tensor(graph_.node(id), std::move(value));
    if (rows) repeat_row(id, batch, whole);
    if (!stored.dims.empty()) permute_back(id, stored.dims, whole);
    folded_.push_back(graph_.node(id).name);
  }
  Tree take_folded() { return std::move(folded_); }

 private:
  const ir::Graph& before() const { return nodes_.graph(); }

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

  /// Repeats the stored row [1, ...] for every sample, in place of the former rows.
  void repeat_row(ir::NodeId row, ir::NodeId batch, const Shape& whole) {
    const bool overlap = nodes_.may_overlap(row);
    ir::Value::List times(whole.size(), overlap ? -1 : 1);
    times.front() = ir::NodeRef{batch};
    read_through(row, overlap ? "expand" : "repeat",
                 {overlap ? "size" : "repeats", ir::Value::list(std::move(times))}, whole);
  }

  /// Permutes a tensor stored in the order of memory back to the dimensions that readers expect.
  void permute_back(ir::NodeId tensor, const std::vector<std::size_t>& dims, const Shape& whole) {
    ir::Value::List places(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d)
      places[dims[d]] = ir::Value(static_cast<std::int64_t>(d));
    read_through(tensor, "permute", {"dims", ir::Value::list(std::move(places))}, whole);
  }

  /// Lets the readers of a tensor read the result of an operator on it.
  void read_through(ir::NodeId tensor, const std::string& op, ir::Argument argument,
                    const Shape& shape) {
    const ir::NodeId next = *std::next(std::ranges::find(graph_.order(), tensor));
    NodeWriter writer(graph_, next, graph_.node(tensor).info.dtype);
    writer.begin(graph_.node(tensor).name);
    graph_.replace_uses(
        tensor, writer.call("aten::" + op, op,
                            {{"self", NodeWriter::ref(tensor)}, std::move(argument)}, shape));
  }

  /// All nodes that this one depends on: itself, inputs, and nodes whose sizes are read.
  std::set<ir::NodeId> sources(ir::NodeId id) const {
    std::set<ir::NodeId> found{id};
    for (const ir::NodeId node : before().order() | std::views::reverse)
      if (found.contains(node))
        for (const ir::NodeId input : values_read(before(), before().node(node)))
          found.insert(input);
    return found;
  }

  /// The batch on the host: a source, or a size read from a tensor that gives a source its shape.
  ir::NodeId batch_before(ir::NodeId id) {
    for (const ir::NodeId source : sources(id)) {
      if (nodes_.constancy(source) != Constancy::rows) continue;
      if (!before().node(source).info.is_tensor()) return source;
      if (const auto like = shape_read(source)) return add_batch(*like, id);
    }
    MASE_CHECK(false, "fold_constants: '" + graph_.node(id).name + "' has rows without a batch");
  }

  std::optional<ir::NodeId> shape_read(ir::NodeId source) const {
    const auto like = like_read(before().node(source));
    return like && like->shape ? std::optional(like->tensor) : std::nullopt;
  }

  ir::NodeId add_batch(ir::NodeId tensor, ir::NodeId reader) {
    NodeWriter writer(graph_, reader, graph_.node(reader).info.dtype);
    writer.begin(graph_.node(reader).name);
    return writer.size(tensor, 0, "batch");
  }

  /// Adds guards that refuse other sizes than those of the trace, where the node's sizes were read.
  void add_guards(ir::NodeId id) {
    for (const ir::NodeId source : sources(id)) {
      if (nodes_.constancy(source) == Constancy::varies) continue;
      if (const auto tensor = shape_read(source)) guard_all(*tensor);
      const auto read = size_read(before(), before().node(source));
      if (!read || nodes_.constancy(source) != Constancy::fixed) continue;
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
  const StoredNodes& nodes_;
  Tree folded_ = Tree::list();
};

/// Trained tensors that are gone.
Tree lost_parameters(const ir::Graph& before, const ir::Graph& after) {
  Tree lost = Tree::list();
  for (const std::string& path : before.tensor_order)
    if (before.tensors.at(path).requires_grad && !after.tensors.contains(path))
      lost.push_back(path);
  return lost;
}

Tree fold(ir::Graph& graph, const StoredNodes& nodes) {
  Folding folding(graph, nodes);
  std::vector<ConstantPart::Wanted> wanted;
  for (const StoredNode& node : nodes.in_order()) wanted.push_back({node.id, node.dims});
  std::vector<Array> values = nodes.part().values(wanted);
  for (std::size_t i = 0; i < values.size(); ++i)
    folding.fold(nodes.in_order()[i], std::move(values[i]));
  graph.remove_dead_nodes();
  ir::remove_unused_tensors(graph);
  return folding.take_folded();
}

/// Rewrites choices that read more values than they depend on, so that they read only those.
bool simplify_choices(ir::Graph& graph, bool parameters) {
  const bool equal = take_equal_elements(graph);
  const ir::Graph before = graph;
  const BatchPowers powers(before);
  return take_own_rows(graph, ConstantNodes(before, powers, parameters), powers) || equal;
}

}  // namespace

Result FoldConstants::run(ir::Graph& graph, const Options& options, PassContext& context) {
  const std::size_t nodes_before = graph.order().size();
  const bool simplified = simplify_choices(graph, options.parameters);
  const ir::Graph before = graph;
  const StoredNodes nodes(before, {options.parameters, options.most_elements}, context.evaluator);
  Result result;
  result.notes = nodes.notes();
  Tree folded = fold(graph, nodes);
  if (folded.size() > 0) ir::remember_folding(before, graph);
  result.changed = folded.size() > 0 || simplified;
  result.info["folded"] = std::move(folded);
  result.info["parameters"] = lost_parameters(before, graph);
  result.info["nodes_before"] = nodes_before;
  result.info["nodes_after"] = graph.order().size();
  return result;
}

}  // namespace mase::passes
