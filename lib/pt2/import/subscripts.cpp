// SPDX-License-Identifier: Apache-2.0
// Subscripts: x[:, 0] is slice(dim 0) and select(dim 1) in the program, and one node of the graph.
#include <limits>
#include <optional>

#include "pt2/import/importer.hpp"

namespace mase::pt2 {
namespace {

/// The subscript as far as it has been read.
struct Subscript {
  ir::Value::List items;
  std::int64_t next_dim = 0;  ///< the dimension of the result that the next item would index

  /// Skips the dimensions before the first item with full slices.
  bool skip_to(std::int64_t dim) {
    if (dim < next_dim || (!items.empty() && dim != next_dim)) return false;
    for (; next_dim < dim; ++next_dim) items.push_back(ir::Value::slice({}, {}, {}));
    return true;
  }
};

/// A bound of a slice; none for one that Python leaves out.
ir::Value bound(const Call& call, std::string_view name, std::int64_t left_out) {
  const ir::Value* value = call.find(name);
  return !value || *value == ir::Value(left_out) ? ir::Value() : *value;
}

std::optional<std::int64_t> dimension(const Call& call, std::int64_t rank) {
  const ir::Value* dim = call.find("dim");
  if (!dim) return 0;
  if (dim->kind() != ir::Value::Kind::integer) return std::nullopt;
  return dim->as_int() < 0 ? dim->as_int() + rank : dim->as_int();
}

/// Extends the subscript by a call; false if it does not continue where the subscript ends. `rank`
/// is that of the tensor that the call reads.
bool extend(Subscript& subscript, const Call& call, std::int64_t rank) {
  if (call.op == "aten::index.Tensor") {
    const ir::Value* indices = call.find("indices");
    if (!subscript.items.empty() || !indices) return false;
    for (const ir::Value& item : indices->items())
      subscript.items.push_back(item.is_none() ? ir::Value::slice({}, {}, {}) : item);
    return true;
  }
  const bool new_axis = call.op == "aten::unsqueeze";
  const auto dim = dimension(call, rank + (new_axis ? 1 : 0));
  if (!dim || !subscript.skip_to(*dim)) return false;
  if (call.op == "aten::select.int") {
    subscript.items.push_back(*call.find("index"));
    return true;
  }
  if (new_axis)
    subscript.items.emplace_back();
  else if (call.op == "aten::slice.Tensor")
    subscript.items.push_back(ir::Value::slice(
        bound(call, "start", 0), bound(call, "end", std::numeric_limits<std::int64_t>::max()),
        bound(call, "step", 1)));
  else
    return false;
  ++subscript.next_dim;
  return true;
}

/// How many dimensions the result of a step has, of a tensor with `rank`.
std::int64_t rank_after(const Call& call, std::int64_t rank) {
  if (call.op == "aten::select.int") return rank - 1;
  return call.op == "aten::unsqueeze" ? rank + 1 : rank;
}

}  // namespace

bool Importer::import_subscript(Range range) {
  Subscript subscript;
  ir::Value base;
  std::string last;
  std::int64_t rank = 0;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const Node& node = program_.nodes[i];
    if (node.inputs.empty() || node.outputs.size() != 1) return false;
    const std::vector<std::string> from = names_in(node.inputs[0].value);
    if (from.size() != 1) return false;
    if (i == range.begin) {
      base = named(Tree(Tree::Dict{{"name", Tree(from[0])}}));
      read_tensors(base);
      if (!base.is_node() || !graph_.node(base.node()).info.is_tensor()) return false;
      rank = static_cast<std::int64_t>(graph_.node(base.node()).info.shape.size());
    } else if (from[0] != last || is_used_outside(range, last)) {
      return false;
    }
    const Call call = call_of(node, 1);
    if (!extend(subscript, call, rank)) return false;
    rank = rank_after(call, rank);
    last = names_in(node.outputs[0]).at(0);
  }
  for (ir::Value& item : subscript.items) read_tensors(item);
  ir::Node node;
  node.kind = ir::NodeKind::call_function;
  node.target = "_operator.getitem";
  node.op = "mase::getitem";
  const bool single = subscript.items.size() == 1;
  node.args = {{"value", base},
               {"index", single ? subscript.items[0] : ir::Value::tuple(subscript.items)}};
  const Node& end = program_.nodes[range.end - 1];
  define(last, {ir::NodeRef{add(std::move(node), end)}, ""});
  // Should a view be changed in place, its parts are computed one by one.
  for (std::size_t i = range.begin; i < range.end; ++i) {
    note_memory(call_of(program_.nodes[i], 1));
    if (i + 1 < range.end) stale_.insert(names_in(program_.nodes[i].outputs[0]).at(0));
  }
  return true;
}

}  // namespace mase::pt2
