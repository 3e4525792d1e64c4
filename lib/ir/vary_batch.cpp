// SPDX-License-Identifier: Apache-2.0
// One sweep that follows the rows of the batch from node to node, a rule for each family of ops,
// and then inference with the other batch, which has to agree.
#include "ir/vary_batch.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "ir/dimension_map.hpp"
#include "ir/inference.hpp"
#include "ir/op_table.hpp"

namespace mase::ir {
namespace {

/// Where the rows of the batch are: the places of a dimension are [outer, batch, inner].
struct Rows {
  std::size_t axis = 0;
  std::int64_t outer = 1, inner = 1;
  bool is_whole() const { return outer == 1 && inner == 1; }
  bool operator==(const Rows&) const = default;
};

/// The rows of a result, or of the elements of a container; neither where it has none.
struct Followed {
  std::optional<Rows> rows;
  std::vector<Followed> elements;
  bool has_rows() const {
    return rows ||
           std::ranges::any_of(elements, [](const Followed& one) { return one.has_rows(); });
  }
};

struct Obstacle {
  std::string reason;
};
[[noreturn]] void refuse(std::string reason) { throw Obstacle{std::move(reason)}; }
[[noreturn]] void refuse_mixing() { refuse("it computes with several rows of the batch at once"); }

std::int64_t size_before(const Shape& shape, std::size_t dim) {
  std::int64_t size = 1;
  for (std::size_t i = 0; i < dim; ++i) size *= shape[i];
  return size;
}

class Sweep {
 public:
  Sweep(Graph& graph, const std::vector<NodeId>& inputs, bool others_vary)
      : graph_(graph), inputs_(inputs), others_vary_(others_vary) {
    batch_ = graph.node(inputs.front()).info.shape.front();
  }

  std::optional<BatchObstacle> run() {
    const std::vector<NodeId> order = graph_.order();
    for (const NodeId id : order) {
      at_ = id;
      try {
        if (graph_.node(id).kind == NodeKind::output)
          check_output(*node().find("value"));
        else
          followed_[id] = follow();
      } catch (const Obstacle& obstacle) {
        return BatchObstacle{id, obstacle.reason};
      }
    }
    return std::nullopt;
  }

  /// Infers all shapes for another batch, and compares them with what was found.
  std::optional<BatchObstacle> check(std::int64_t batch) {
    std::map<NodeId, ValueInfo> before;
    for (const auto& [id, found] : followed_) before.emplace(id, graph_.node(id).info);
    for (const NodeId id : inputs_) graph_.node(id).info.shape.front() = batch;
    try {
      if (const NodeId unknown = infer_all(graph_); unknown != no_node)
        return BatchObstacle{unknown, "its shape for another batch is not known"};
    } catch (const Error& error) {
      return BatchObstacle{graph_.output(), error.what()};
    }
    for (const NodeId id : graph_.order())
      if (const auto found = followed_.find(id);
          found != followed_.end() &&
          !agrees(found->second, before.at(id), graph_.node(id).info, batch))
        return BatchObstacle{id, "its result has other sizes for another batch"};
    return std::nullopt;
  }

 private:
  bool agrees(const Followed& found, ValueInfo info, const ValueInfo& now, std::int64_t batch) {
    for (std::size_t i = 0; i < info.elements.size(); ++i)
      if (!agrees(i < found.elements.size() ? found.elements[i] : Followed{}, info.elements[i],
                  now.elements.at(i), batch))
        return false;
    if (found.rows) info.shape[found.rows->axis] = found.rows->outer * batch * found.rows->inner;
    return !info.is_tensor() || info.shape == now.shape;
  }

  const Node& node() const { return graph_.node(at_); }
  const Shape& shape_of(NodeId id) const { return graph_.node(id).info.shape; }
  const std::optional<Rows>& rows_of(NodeId id) const { return followed_.at(id).rows; }

  Followed follow() {
    if (std::ranges::find(inputs_, at_) != inputs_.end()) return {Rows{}, {}};
    const std::vector<NodeId> operands = graph_.inputs(at_);
    const bool varies =
        std::ranges::any_of(operands, [&](NodeId id) { return followed_.at(id).has_rows(); });
    if (!varies) return {};
    const Classified what = classify(graph_, node());
    if (what.op == "getitem" && !followed_.at(operands.front()).rows)
      return item(followed_.at(operands.front()));
    for (const NodeId id : operands)
      if (!graph_.node(id).info.is_tensor() && followed_.at(id).has_rows())
        refuse("no rule follows the rows of a batch through it");
    if (what.family() == OpFamily::recurrent_layer) return layer();
    if (node().info.is_number()) refuse("its result is one number for the whole batch");
    return spread(rows(what), node().info);
  }

  /// The same rows in every tensor of a container.
  static Followed spread(const Rows& rows, const ValueInfo& info) {
    if (info.is_tensor()) return {rows, {}};
    Followed all;
    for (const ValueInfo& element : info.elements) all.elements.push_back(spread(rows, element));
    return all;
  }

  void check_output(const Value& value) const {
    value.for_each_node([&](NodeId id) {
      const auto& found = followed_.at(id);
      if (found.rows && !found.rows->is_whole())
        refuse("a dimension of the output '" + graph_.node(id).name +
               "' has the batch and something else");
    });
  }

  Followed item(const Followed& container) const {
    const Value* index = node().find("index");
    if (!index || index->kind() != Value::Kind::integer) refuse("its index is not constant");
    const std::int64_t count = static_cast<std::int64_t>(container.elements.size());
    const std::int64_t place = index->as_int() < 0 ? index->as_int() + count : index->as_int();
    if (place < 0 || place >= count) refuse("its index is outside of the container");
    return container.elements[static_cast<std::size_t>(place)];
  }

  Rows rows(const Classified& what) {
    const bool of_two = what.family() == OpFamily::reduction && node().find("other");
    if (of_two) return broadcast(graph_.inputs(at_));
    switch (what.family()) {
      using enum OpFamily;
      case elementwise:
        return broadcast(graph_.inputs(at_));
      case linear:
        return kept("input", shape_of(named("input")).size() - 1);
      case embedding:
        return kept("indices", shape_of(named("indices")).size());
      case layer_norm:
        return kept("input", normalized());
      case convolution:
      case transposed_convolution:
        return convolved();
      case batch_norm:
        if (const Value* training = graph_.argument(node(), "training");
            training && *training == Value(true))
          refuse_mixing();
        return kept("input", 1);
      case instance_norm:
      case group_norm:
        return kept("input", 1);
      case pooling:
      case adaptive_pooling:
      case resampling:
        return kept(only_operand(), 1);
      case matrix_product:
        return product();
      case attention:
        return attended();
      case concatenation:
        return joined(what);
      case reshape:
        return reshaped();
      case expand:
        return expanded();
      case unary:
      case channel_activation:
      case softmax:
      case scan:
      case difference:
      case reduction:
      case arg_reduction:
      case copy:
      case transpose:
      case permute:
      case pad:
      case movement:
        return what.op == "stack" ? joined(what) : what.op == "gather" ? gathered() : mapped(what);
      default:
        if (is_of_elements(node().op)) return broadcast(graph_.inputs(at_));
        refuse("no rule follows the rows of a batch through it");
    }
  }

  NodeId named(std::string_view argument) const {
    const Value* value = node().find(argument);
    if (!value || !value->is_node())
      refuse("its operand '" + std::string(argument) + "' is not a tensor");
    return value->node();
  }

  /// The one operand with rows.
  NodeId only_operand() const {
    NodeId only = no_node;
    for (const NodeId id : graph_.inputs(at_)) {
      if (!rows_of(id)) continue;
      if (only != no_node) refuse("several operands have rows of the batch");
      only = id;
    }
    return only;
  }

  /// The rows of an operand, one of whose first `dims` dimensions has them.
  Rows kept(NodeId operand, std::size_t dims) const {
    if (only_operand() != operand) refuse("a parameter of it depends on the batch");
    const Rows rows = *rows_of(operand);
    if (rows.axis >= dims) refuse_mixing();
    return rows;
  }
  Rows kept(std::string_view argument, std::size_t dims) const {
    return kept(named(argument), dims);
  }

  std::size_t normalized() const {
    const Value* sizes = graph_.argument(node(), "normalized_shape");
    const Value::List* items = items_of(sizes);
    const std::size_t rank = shape_of(named("input")).size();
    return rank - std::min(rank, items ? items->size() : 1);
  }

  /// Without a batch the input would have one dimension less than the weight.
  Rows convolved() const {
    const std::string* path = graph_.tensor_of(node(), "weight");
    const Value* weight = node().find("weight");
    const std::size_t rank = path ? graph_.tensors.at(*path).value.shape().size()
                             : weight && weight->is_node() ? shape_of(weight->node()).size()
                                                           : 0;
    if (shape_of(named("input")).size() != rank) refuse("its input has no dimension of a batch");
    return kept("input", 1);
  }

  /// Operands align at their last dimension. One without rows has the size 1 there, or no such
  /// dimension, so that all rows read the same of it.
  Rows broadcast(const std::vector<NodeId>& operands) const {
    std::optional<Rows> common;  // its axis is counted from the end
    for (const NodeId id : operands)
      if (const auto& rows = rows_of(id)) {
        const Rows from_end{shape_of(id).size() - rows->axis, rows->outer, rows->inner};
        if (common && *common != from_end)
          refuse("the batch is another dimension in one operand than in another");
        common = from_end;
      }
    std::size_t rank = 0;
    for (const NodeId id : operands) {
      const Shape& shape = shape_of(id);
      rank = std::max(rank, shape.size());
      if (!rows_of(id) && shape.size() >= common->axis && shape[shape.size() - common->axis] != 1)
        refuse_constant();
    }
    return {rank - common->axis, common->outer, common->inner};
  }

  [[noreturn]] static void refuse_constant() {
    refuse("it combines the rows with a constant that has as many");
  }

  Rows mapped(const Classified& what) const {
    const NodeId first = graph_.inputs(at_).front();
    if (only_operand() != first) refuse("one of its operands tells places, and has rows");
    const auto map = dimension_map(graph_, node());
    const Rows rows = *rows_of(first);
    if (!map) refuse("no rule follows the rows of a batch through it");
    const bool of_places = what.op == "triu" || what.op == "tril";
    if (of_places && rows.axis + 2 >= shape_of(first).size()) refuse_mixing();
    const auto place = place_of(*map, rows.axis);
    if (!place || (*map)[*place].places != Places::same) refuse_mixing();
    return {*place, rows.outer, rows.inner};
  }

  /// cat and stack: operands without rows get them.
  Rows joined(const Classified& what) {
    std::optional<Rows> common;
    const Value tensors = *node().find("tensors");
    tensors.for_each_node([&](NodeId id) {
      if (common && rows_of(id) && *common != *rows_of(id))
        refuse("the batch is another dimension in one operand than in another");
      if (rows_of(id)) common = rows_of(id);
    });
    const bool is_new = what.op == "stack";
    const auto dim = named_dimension(graph_, node(), "dim",
                                     shape_of(graph_.inputs(at_).front()).size() + is_new, 0);
    if (!dim || (!is_new && *dim == common->axis)) refuse_mixing();
    widen(tensors, *common);
    return {common->axis + (is_new && *dim <= common->axis), common->outer, common->inner};
  }

  /// Both operands of a gather have as many rows.
  Rows gathered() {
    const NodeId self = named("self"), index = named("index");
    const auto& a = rows_of(self);
    const auto& b = rows_of(index);
    const auto dim = named_dimension(graph_, node(), "dim", shape_of(self).size(), 0);
    const Rows rows = a ? *a : *b;
    if (!dim || *dim == rows.axis || (a && b && *a != *b)) refuse_mixing();
    widen(Value::list({NodeRef{self}, NodeRef{index}}), rows);
    return rows;
  }

  /// Repeats each operand without rows along the batch.
  void widen(const Value& operands, const Rows& rows) {
    std::vector<NodeId> single;
    operands.for_each_node([&](NodeId id) {
      if (!rows_of(id)) single.push_back(id);
    });
    for (const NodeId id : single) {
      const Shape shape = shape_of(id);
      if (!rows.is_whole() || rows.axis >= shape.size() || shape[rows.axis] != 1) refuse_constant();
      Value::List sizes(shape.size(), Value(-1));
      sizes[rows.axis] = NodeRef{batch_size()};
      const NodeId wide = graph_.add(
          call_of("aten::expand", "expand", {{"self", NodeRef{id}}, {"size", Value::list(sizes)}}),
          at_);
      for (Argument& argument : graph_.node(at_).args) argument.value.replace_node(id, wide);
    }
  }

  static Node call_of(std::string op, std::string method, std::vector<Argument> args) {
    Node call;
    call.kind = NodeKind::call_method;
    call.target = std::move(method);
    call.op = std::move(op);
    call.args = std::move(args);
    return call;
  }

  /// The node that reads the batch of the first input.
  NodeId batch_size() {
    if (batch_size_ != no_node) return batch_size_;
    const auto first = std::ranges::find_if(
        graph_.order(), [&](NodeId id) { return graph_.node(id).kind != NodeKind::placeholder; });
    batch_size_ = graph_.add(
        call_of("aten::size.int", "size", {{"self", NodeRef{inputs_.front()}}, {"dim", 0}}),
        *first);
    return batch_size_;
  }

  /// [..., n, k] x [..., k, m]
  Rows product() {
    const std::vector<NodeId> operands{named("self"),
                                       named(node().find("mat2") ? "mat2" : "other")};
    const std::size_t rank = node().info.shape.size();
    const std::size_t ranks[] = {shape_of(operands[0]).size(), shape_of(operands[1]).size()};
    const auto &a = rows_of(operands[0]), &b = rows_of(operands[1]);
    if (std::min(ranks[0], ranks[1]) < 2) refuse("one of its operands is a vector");
    if (a && a->axis == ranks[0] - 1) refuse_mixing();
    if (b && b->axis == ranks[1] - 2) refuse_mixing();
    if (a && a->axis == ranks[0] - 2) {
      if (b) refuse_mixing();
      return {rank - 2, a->outer, a->inner};
    }
    if (b && b->axis == ranks[1] - 1) {
      if (a) refuse_mixing();
      return {rank - 1, b->outer, b->inner};
    }
    if (base_op(node().op) != "aten::matmul" && !(a && b)) refuse_constant();
    return broadcast(operands);
  }

  Rows attended() const {
    const NodeId query = named("query");
    for (const NodeId id : graph_.inputs(at_))
      if (!rows_of(id) && (id == named("key") || id == named("value") || id == query))
        refuse_constant();
    if (rows_of(query)->axis + 2 >= shape_of(query).size()) refuse_mixing();
    return broadcast(graph_.inputs(at_));
  }

  /// Views, flattening and dimensions of 1: the elements stay in their order.
  Rows reshaped() {
    const NodeId from = only_operand();
    const Shape before = shape_of(from), after = node().info.shape;
    const Rows rows = *rows_of(from);
    Rows found;
    if (const auto map = dimension_map(graph_, node())) {
      const auto place = place_of(*map, rows.axis);
      if (!place) refuse("it takes the dimension of the batch away");
      found = {*place, rows.outer, rows.inner};
    } else {
      const std::int64_t outer = size_before(before, rows.axis) * rows.outer;
      if (others_vary_ && outer != 1) refuse("sizes before the batch vary too");
      found = place_in(after, outer, rows.axis);
    }
    set_size(found, after);
    return found;
  }

  /// Where rows are whose elements come behind `outer` times the batch: as a dimension of their own
  /// if possible, `preferred` among several of the same size. Otherwise other sizes join them, and
  /// features (the last dimension) only where nothing else can.
  Rows place_in(const Shape& shape, std::int64_t outer, std::size_t preferred) const {
    std::optional<Rows> found;
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      const std::int64_t before = size_before(shape, dim);
      if (before <= 0 || outer % before != 0) break;
      const std::int64_t joined = outer / before * batch_;
      if (shape[dim] <= 0 || shape[dim] % joined != 0) continue;
      const Rows rows{dim, outer / before, shape[dim] / joined};
      const bool whole = rows.is_whole(), was_whole = found && found->is_whole();
      const bool better =
          whole ? !was_whole || dim == preferred : !was_whole && (!found || dim + 1 < shape.size());
      if (better) found = rows;
    }
    if (!found) refuse("its sizes do not keep the rows of the batch apart");
    return *found;
  }

  /// Lets the size vary that a view gives to the dimension of the batch.
  void set_size(const Rows& rows, const Shape& after) {
    Node& view = graph_.node(at_);
    Value* sizes = view.find("shape") ? view.find("shape") : view.find("size");
    if (!sizes || !items_of(sizes) || sizes->items().size() != after.size()) return;
    Value::List items = sizes->items();
    if (items[rows.axis] == Value(-1)) return;
    for (std::size_t dim = 0; dim < items.size(); ++dim)
      if (items[dim] == Value(-1) && !others_vary_) items[dim] = after[dim];
    const bool has_rest = std::ranges::find(items, Value(-1)) != items.end();
    if (has_rest && !rows.is_whole()) refuse("sizes besides the batch vary too");
    items[rows.axis] = has_rest ? Value(NodeRef{batch_size()}) : Value(-1);
    Node& changed = graph_.node(at_);  // the new node may have moved it
    *(changed.find("shape") ? changed.find("shape") : changed.find("size")) =
        Value::list(std::move(items));
  }

  Rows expanded() {
    const NodeId from = only_operand();
    const Rows rows = *rows_of(from);
    const std::size_t added = node().info.shape.size() - shape_of(from).size();
    const Rows found{rows.axis + added, rows.outer, rows.inner};
    if (node().info.shape[found.axis] != shape_of(from)[rows.axis])
      refuse("it repeats the one row of the batch");
    Value* sizes = graph_.node(at_).find("size");
    if (!sizes || !items_of(sizes)) refuse("its sizes are not known");
    sizes->items().at(found.axis) = Value(-1);
    return found;
  }

  /// A recurrent layer: outputs, and states with the batch as dimension 1.
  Followed layer() {
    const Rows rows = kept_sequence();
    if (const Value* state = node().find("hx")) widen_state(Value(*state));
    const ValueInfo& info = node().info;
    Followed all;
    all.elements.push_back(spread(rows, info.elements.at(0)));
    for (std::size_t i = 1; i < info.elements.size(); ++i)
      all.elements.push_back(spread(Rows{1, 1, 1}, info.elements[i]));
    return all;
  }

  Rows kept_sequence() const {
    const NodeId input = named("input");
    const Value* first = graph_.argument(node(), "batch_first");
    const std::size_t axis = first && *first == Value(true) ? 0 : 1;
    const auto& rows = rows_of(input);
    if (!rows) refuse("its state has rows of the batch, but its input has none");
    if (shape_of(input).size() != 3 || *rows != Rows{axis, 1, 1}) refuse_mixing();
    return *rows;
  }

  void widen_state(const Value& state) {
    state.for_each_node([&](NodeId id) {
      if (rows_of(id) && *rows_of(id) != Rows{1, 1, 1}) refuse_mixing();
    });
    widen(state, Rows{1, 1, 1});
  }

  Graph& graph_;
  const std::vector<NodeId>& inputs_;
  bool others_vary_;
  std::int64_t batch_ = 1;
  NodeId at_ = no_node;  ///< the node that is followed now
  NodeId batch_size_ = no_node;
  std::map<NodeId, Followed> followed_;
};

}  // namespace

std::optional<BatchObstacle> vary_batch(Graph& graph, const std::vector<NodeId>& inputs,
                                        std::int64_t batch, bool others_vary) {
  Sweep sweep(graph, inputs, others_vary);
  if (auto obstacle = sweep.run()) return obstacle;
  return sweep.check(batch);
}

}  // namespace mase::ir
