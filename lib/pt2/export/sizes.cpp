// SPDX-License-Identifier: Apache-2.0
// Runs the rules of shape inference with other batches, and writes sizes as sympy reads them.
#include "pt2/export/sizes.hpp"

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "ir/inference.hpp"
#include "pt2/dtypes.hpp"

namespace mase::pt2 {
namespace {

using Integers = std::map<ir::NodeId, std::int64_t>;

class KnownSoFar : public ir::KnownResults {
 public:
  KnownSoFar(const ir::Graph& graph, const Integers& integers)
      : graph_(graph), integers_(integers) {}
  const ir::ValueInfo& info(ir::NodeId id) const override { return graph_.node(id).info; }
  std::optional<std::int64_t> integer(ir::NodeId id) const override {
    const auto found = integers_.find(id);
    return found == integers_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  const ir::Graph& graph_;
  const Integers& integers_;
};

/// Infers all nodes in order. A node without a rule keeps what the graph says of it, or ends the
/// work (false) if the sizes are others than the graph's.
bool infer_nodes(ir::Graph& graph, Integers& integers, bool own_sizes) {
  const KnownSoFar known(graph, integers);
  for (const ir::NodeId id : graph.order()) {
    if (graph.node(id).kind == ir::NodeKind::placeholder) continue;
    const bool is_number = graph.node(id).info.is_number();
    if (!own_sizes || graph.node(id).info.kind == ir::ValueInfo::Kind::unknown) {
      auto info = ir::infer(graph, graph.node(id), known);
      if (info)
        graph.node(id).info = std::move(*info);
      else if (!own_sizes)
        return false;
    }
    const auto number = ir::host_integer(graph, graph.node(id), known);
    if (number) integers[id] = *number;
    if (!own_sizes && is_number && !number) return false;
  }
  return true;
}

/// Whether a condition says no more than that another dimension than the batch is fixed: "size(x,
/// 1) == 24" of an import, or "size(x, 1) is 24" of fold_constants.
bool leaves_batch(const ir::Guard& guard) {
  const std::size_t comma = guard.condition.find(", ");
  if (!guard.condition.starts_with("size(") || comma == std::string::npos) return false;
  const std::string_view rest = std::string_view(guard.condition).substr(comma + 2);
  const bool says_size =
      rest.find(") == ") != std::string_view::npos || rest.find(") is ") != std::string_view::npos;
  return says_size && !rest.starts_with("0)");
}

/// How many times as many rows the runs have. The last number is large, so that blocks of rows and
/// other rounding of sizes show.
constexpr std::int64_t batch_factors[] = {1, 2, 1009};

Tree contiguous_meta(DType dtype, bool grad) {
  Tree meta = Tree::dict();
  meta["dtype"] = row_of(dtype).number;
  meta["sizes"] = Tree::list();
  meta["requires_grad"] = grad;
  meta["device"] = Tree(Tree::Dict{{"type", "cpu"}, {"index", Tree()}});
  meta["strides"] = Tree::list();
  meta["storage_offset"] = Tree(Tree::Dict{{"as_int", 0}});
  constexpr int strided_layout = 7;
  meta["layout"] = strided_layout;
  return meta;
}

const ir::ValueInfo& element(const ir::ValueInfo& info, const std::vector<std::size_t>& place) {
  const ir::ValueInfo* one = &info;
  for (const std::size_t i : place) one = &one->elements.at(i);
  return *one;
}

}  // namespace

Sizes::Sizes(const ir::Graph& graph) {
  for (const ir::NodeId id : graph.placeholders())
    if (const Shape& shape = graph.node(id).info.shape; !shape.empty()) {
      batch_ = shape[0];
      break;
    }
  runs_[0].graph = graph;
  infer_nodes(runs_[0].graph, runs_[0].integers, true);
  any_batch_ = batch_ > 0 && std::ranges::all_of(graph.guards, leaves_batch) && infer_others(graph);
  if (!any_batch_) runs_[2] = runs_[1] = runs_[0];
}

bool Sizes::infer_others(const ir::Graph& graph) {
  for (std::size_t run : {1, 2}) {
    runs_[run] = {graph, {}};
    for (const ir::NodeId id : graph.placeholders()) {
      Shape& shape = runs_[run].graph.node(id).info.shape;
      if (!shape.empty() && shape[0] == batch_) shape[0] *= batch_factors[run];
    }
    try {
      if (!infer_nodes(runs_[run].graph, runs_[run].integers, false)) return false;
    } catch (const Error&) {  // sizes that the graph fixes
      return false;
    }
  }
  return std::ranges::all_of(graph.order(), [&](ir::NodeId id) {
    const auto number = integer(id);
    return (!number || is_linear(*number)) &&
           are_linear(info(id), runs_[1].graph.node(id).info, runs_[2].graph.node(id).info);
  });
}

bool Sizes::is_linear(const BatchSize& size) const {
  const std::int64_t step = size[1] - size[0];
  return size[2] - size[0] == step * (batch_factors[2] - 1) && step % batch_ == 0;
}

bool Sizes::are_linear(const ir::ValueInfo& a, const ir::ValueInfo& b,
                       const ir::ValueInfo& c) const {
  const std::size_t rank = a.shape.size(), count = a.elements.size();
  if (b.shape.size() != rank || c.shape.size() != rank || b.elements.size() != count ||
      c.elements.size() != count)
    return false;
  BatchSize stride{1, 1, 1};
  for (std::size_t i = rank; i-- > 0;) {
    const BatchSize size{a.shape[i], b.shape[i], c.shape[i]};
    if (!is_linear(size) || !is_linear(stride)) return false;
    for (std::size_t run = 0; run < 3; ++run) stride[run] *= size[run];
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!are_linear(a.elements[i], b.elements[i], c.elements[i])) return false;
  return true;
}

std::optional<BatchSize> Sizes::integer(ir::NodeId id) const {
  BatchSize values{};
  for (std::size_t run = 0; run < 3; ++run) {
    const auto found = runs_[run].integers.find(id);
    if (found == runs_[run].integers.end()) return std::nullopt;
    values[run] = found->second;
  }
  return values;
}

BatchSize Sizes::size(ir::NodeId id, std::size_t dim) const {
  BatchSize sizes{};
  for (std::size_t run = 0; run < 3; ++run)
    sizes[run] = runs_[run].graph.node(id).info.shape.at(dim);
  return sizes;
}

Tree Sizes::tree(const BatchSize& size) const {
  if (!varies(size)) return Tree(Tree::Dict{{"as_int", size[0]}});
  const std::int64_t factor = (size[1] - size[0]) / batch_, rest = size[0] - factor * batch_;
  std::string text = "Symbol('" + std::string(batch_symbol) + "', positive=True, integer=True)";
  if (factor != 1) text = "Mul(Integer(" + std::to_string(factor) + "), " + text + ")";
  if (rest != 0) text = "Add(" + text + ", Integer(" + std::to_string(rest) + "))";
  const Tree hint(Tree::Dict{{"as_int", size[0]}});
  return Tree(Tree::Dict{{"as_expr", Tree(Tree::Dict{{"expr_str", text}, {"hint", hint}})}});
}

Tree Sizes::tensor_meta(ir::NodeId id, const std::vector<std::size_t>& place, bool grad) const {
  std::array<const ir::ValueInfo*, 3> infos{};
  for (std::size_t run = 0; run < 3; ++run)
    infos[run] = &element(runs_[run].graph.node(id).info, place);
  Tree meta = contiguous_meta(infos[0]->dtype, grad);
  Tree::List strides;
  BatchSize stride{1, 1, 1};
  for (std::size_t i = infos[0]->shape.size(); i-- > 0;) {
    strides.insert(strides.begin(), tree(stride));
    for (std::size_t run = 0; run < 3; ++run) stride[run] *= infos[run]->shape[i];
  }
  for (std::size_t i = 0; i < infos[0]->shape.size(); ++i)
    meta["sizes"].push_back(tree({infos[0]->shape[i], infos[1]->shape[i], infos[2]->shape[i]}));
  meta["strides"] = Tree(std::move(strides));
  return meta;
}

Tree tensor_meta(DType dtype, const Shape& shape, bool grad) {
  Tree meta = contiguous_meta(dtype, grad);
  Tree::List strides;
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i])
    strides.insert(strides.begin(), Tree(Tree::Dict{{"as_int", stride}}));
  for (const std::int64_t size : shape) meta["sizes"].push_back(Tree(Tree::Dict{{"as_int", size}}));
  meta["strides"] = Tree(std::move(strides));
  return meta;
}

}  // namespace mase::pt2
