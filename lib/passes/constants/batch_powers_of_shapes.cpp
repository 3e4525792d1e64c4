// SPDX-License-Identifier: Apache-2.0
// Rules of ops that move elements and make tensors.
#include <algorithm>
#include <numeric>
#include <ranges>

#include "passes/constants/batch_powers.hpp"
#include "passes/constants/constant_nodes.hpp"

namespace mase::passes {
namespace {

using Kind = ir::Value::Kind;

/// The power of a product of sizes.
Power sum(Powers::const_iterator first, Powers::const_iterator last) {
  return std::accumulate(first, last, Power(0), [](const Power& total, const Power& power) {
    return total && power ? Power(*total + *power) : Power();
  });
}

bool is_minus_one(const ir::Value& value) {
  return value.kind() == Kind::integer && value.as_int() == -1;
}

}  // namespace

Powers BatchPowers::reshaped(const ir::Node& node, const std::string& op) const {
  if (op == "view") return viewed(node, node.find("size"));
  if (op == "reshape") return viewed(node, node.find("shape"));
  if (op == "flatten") return flattened(node);
  if (op == "unsqueeze") return mapped(node);
  return op == "squeeze" && graph_.argument(node, "dim") ? squeezed(node) : unknown(node);
}

/// Dimensions that stay have their power, and new ones the size 1.
Powers BatchPowers::mapped(const ir::Node& node) const {
  const auto map = ir::dimension_map(graph_, node);
  if (!map) return unknown(node);
  const Powers from = of_first(node);
  Powers powers;
  for (const ir::ResultDimension& dim : *map) {
    const bool stays = dim.of && dim.places != ir::Places::other;
    powers.push_back(stays ? from.at(*dim.of) : dim.of ? Power() : Power(0));
  }
  return powers;
}

Powers BatchPowers::squeezed(const ir::Node& node) const {
  const Powers from = of_first(node);
  const auto place = ir::named_dimension(graph_, node, "dim", from.size(), 0);
  return place && from[*place] == Power(0) ? mapped(node) : unknown(node);
}

/// A size of -1 takes the elements that the other sizes leave.
Powers BatchPowers::viewed(const ir::Node& node, const ir::Value* sizes) const {
  const ir::Value::List* items = ir::items_of(sizes);
  if (!items) return unknown(node);
  const Powers from = of_first(node);
  Powers powers;
  for (const ir::Value& size : *items) powers.push_back(is_minus_one(size) ? 0 : of_value(size));
  const Power all = sum(from.begin(), from.end()), others = sum(powers.begin(), powers.end());
  for (std::size_t d = 0; d < powers.size(); ++d)
    if (is_minus_one((*items)[d]))
      powers[d] = all && others && *all >= *others ? Power(*all - *others) : Power();
  return powers;
}

Powers BatchPowers::flattened(const ir::Node& node) const {
  const Powers from = of_first(node);
  const auto first = ir::named_dimension(graph_, node, "start_dim", from.size(), 0);
  const auto last = ir::named_dimension(graph_, node, "end_dim", from.size(), -1);
  if (!first || !last || *last < *first) return unknown(node);
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(*first);
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(*last) + 1;
  Powers powers(from.begin(), begin);
  powers.push_back(sum(begin, end));
  powers.insert(powers.end(), end, from.end());
  return powers;
}

/// A size of -1 keeps the input's size.
Powers BatchPowers::expanded(const ir::Node& node) const {
  const ir::Value::List* sizes = ir::items_of(node.find("size"));
  const Powers from = of_first(node);
  if (!sizes || sizes->size() < from.size()) return unknown(node);
  const std::size_t added = sizes->size() - from.size();
  Powers powers;
  for (std::size_t d = 0; d < sizes->size(); ++d) {
    const bool kept = d >= added && is_minus_one((*sizes)[d]);
    powers.push_back(kept ? from[d - added] : of_value((*sizes)[d]));
  }
  return powers;
}

/// Tensors one after the other; a sum of sizes with the same power has this power too.
Powers BatchPowers::joined(const ir::Node& node) const {
  const auto along = ir::named_dimension(graph_, node, "dim", node.info.shape.size(), 0);
  const std::vector<ir::NodeId> tensors = graph_.inputs(node.id);
  if (!along || tensors.empty()) return unknown(node);
  Powers powers = of(tensors.front());
  for (const ir::NodeId id : tensors) {
    const Powers& other = of(id);
    if (!graph_.node(id).info.is_tensor() || other.size() != powers.size()) return unknown(node);
    for (std::size_t d = 0; d < powers.size(); ++d)
      if (powers[d] != other[d]) powers[d].reset();
  }
  return powers;
}

Powers BatchPowers::chosen(const ir::Node& node, const std::string& op) const {
  if (op == "triu" || op == "tril" || op == "flip" || op == "roll") return same(node);
  if (op == "getitem") return item(node);
  if (op == "chunk" || op == "split") return cut(node);
  if (op == "unbind" || op == "select") return mapped(node);
  if (op == "slice") return ranged(node);
  return op == "repeat" ? repeated(node) : unknown(node);
}

Powers BatchPowers::repeated(const ir::Node& node) const {
  const ir::Value::List* repeats = ir::items_of(node.find("repeats"));
  const Powers from = of_first(node);
  if (!repeats || repeats->size() < from.size()) return unknown(node);
  Powers powers(repeats->size() - from.size(), 0);
  powers.insert(powers.end(), from.begin(), from.end());
  for (std::size_t d = 0; d < powers.size(); ++d) {
    const Powers both{powers[d], of_value((*repeats)[d])};
    powers[d] = sum(both.begin(), both.end());
  }
  return powers;
}

/// A tensor of a list, or the part of a tensor that an index selects. The index has numbers, slices
/// and `none`, possibly after tensors, whose dimensions come first in the result.
Powers BatchPowers::item(const ir::Node& node) const {
  const ir::Value *value = node.find("value"), *index = node.find("index");
  if (!value || !value->is_node() || !index || !node.info.is_tensor()) return unknown(node);
  const Powers& from = of(value->node());
  if (!graph_.node(value->node()).info.is_tensor()) return from;
  const ir::Value::List single{*index};
  const ir::Value::List& choices = index->kind() == Kind::tuple ? index->items() : single;
  const std::vector<ir::NodeId> tensors = leading_tensors(choices);
  std::size_t at = tensors.size();
  if (at > from.size()) return unknown(node);
  Powers powers = broadcast(tensors);
  for (const ir::Value& choice : choices | std::views::drop(at)) {
    if (!choice.is_none() && at == from.size()) return unknown(node);
    if (choice.is_none())
      powers.push_back(0);
    else if (choice.kind() == Kind::slice)
      powers.push_back(sliced(from[at++], choice));
    else if (of_value(choice))
      ++at;
    else
      return unknown(node);  // a tensor as index
  }
  powers.insert(powers.end(), from.begin() + static_cast<std::ptrdiff_t>(at), from.end());
  return powers;
}

/// The tensors at the beginning of an index, which choose elements by their numbers.
std::vector<ir::NodeId> BatchPowers::leading_tensors(const ir::Value::List& choices) const {
  std::vector<ir::NodeId> found;
  for (const ir::Value& choice : choices) {
    if (!choice.is_node()) break;
    const ir::ValueInfo& info = graph_.node(choice.node()).info;
    if (!info.is_tensor() || info.shape.empty() || info.dtype != DType::int64) break;
    found.push_back(choice.node());
  }
  return found;
}

Power BatchPowers::sliced(Power whole, const ir::Value& slice) const {
  const auto is_none = [](const ir::Value& part) { return part.is_none(); };
  const auto is_fixed = [&](const ir::Value& part) {
    return part.is_none() || of_value(part) == Power(0);
  };
  if (std::ranges::all_of(slice.items(), is_none)) return whole;
  const bool fixed = whole == Power(0) && std::ranges::all_of(slice.items(), is_fixed);
  return fixed ? Power(0) : Power();
}

Powers BatchPowers::ranged(const ir::Node& node) const {
  Powers powers = of_first(node);
  const auto along = ir::named_dimension(graph_, node, "dim", powers.size(), 0);
  if (!along) return unknown(node);
  const auto bound = [&](const char* name) {
    const ir::Value* value = node.find(name);
    return value ? *value : ir::Value();
  };
  powers[*along] =
      sliced(powers[*along], ir::Value::slice(bound("start"), bound("end"), bound("step")));
  return powers;
}

/// The sizes of the parts of a tensor, for each part in the list.
Powers BatchPowers::cut(const ir::Node& node) const {
  Powers powers = of_first(node);
  const auto along = ir::named_dimension(graph_, node, "dim", powers.size(), 0);
  if (!along) return Powers(powers.size());
  const std::vector<ir::NodeId> inputs = graph_.inputs(node.id);
  const bool fixed = std::all_of(inputs.begin() + 1, inputs.end(), [&](ir::NodeId size) {
    return of_value(ir::NodeRef{size}) == Power(0);
  });
  if (powers[*along] != Power(0) || !fixed) powers[*along].reset();
  return powers;
}

/// Dimensions without padding keep their power.
Powers BatchPowers::padded(const ir::Node& node) const {
  Powers powers = of_first(node);
  const ir::Value::List* pads = ir::items_of(node.find("pad"));
  if (!pads || pads->size() > 2 * powers.size()) return unknown(node);
  for (std::size_t i = 0; i < pads->size(); ++i) {
    Power& power = powers[powers.size() - 1 - i / 2];
    if (!((*pads)[i] == ir::Value(0) || of_value((*pads)[i]) == power)) power.reset();
  }
  return powers;
}

/// Differences along one dimension whose size is fixed.
Powers BatchPowers::differences(const ir::Node& node) const {
  Powers powers = of_first(node);
  const auto along = ir::named_dimension(graph_, node, "dim", powers.size(), -1);
  const std::vector<ir::NodeId> tensors = graph_.inputs(node.id);
  const bool fixed = along && std::ranges::all_of(tensors, [&](ir::NodeId id) {
                       return graph_.node(id).info.is_tensor() && of(id).at(*along) == Power(0);
                     });
  return fixed ? powers : unknown(node);
}

/// Operators outside of the table, when no size that they read depends on the batch.
/// They use sizes, or numbers that are independent of the batch; arange(end) has `end` elements.
Powers BatchPowers::created(const ir::Node& node) const {
  Powers powers;
  if (const ir::Value::List* sizes = ir::items_of(node.find("size"))) {
    for (const ir::Value& size : *sizes) powers.push_back(of_value(size));
    return powers;
  }
  const ir::Value* end = node.find("end");
  if (ir::base_op(node.op) == "aten::arange" && end && !node.find("start") && !node.find("step"))
    return {of_value(*end)};
  const std::vector<ir::NodeId> inputs = graph_.inputs(node.id);
  const bool fixed = std::ranges::all_of(
      inputs, [&](ir::NodeId id) { return of_value(ir::NodeRef{id}) == Power(0); });
  return fixed ? Powers(node.info.shape.size(), 0) : unknown(node);
}

}  // namespace mase::passes
