// SPDX-License-Identifier: Apache-2.0
// Runs the rules of shape inference with other sizes.
#include "onnx/export/symbols.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "ir/inference.hpp"
#include "onnx/source.hpp"

namespace mase::onnx {
namespace {

/// Different multiples tell symbols of the same size apart.
constexpr std::int64_t factors[] = {2, 3, 5, 7, 11, 13, 17, 19};

}  // namespace

Symbols::Symbols(const ir::Graph& graph, bool batch_alone) : graph_(graph) {
  find_batch();
  find_symbols();
  if (batch_alone && symbols_.size() > 1) symbols_.resize(1);
  if (infer(symbols_.size())) return;
  if (symbols_.size() > 1) infer(1);
}

Symbols::Symbol& Symbols::symbol(const std::string& name, std::int64_t size) {
  const auto known = std::ranges::find(symbols_, name, &Symbol::name);
  if (known != symbols_.end()) return *known;
  const std::int64_t factor = factors[std::min(symbols_.size(), std::size(factors) - 1)];
  return symbols_.emplace_back(Symbol{name, size, factor, {}});
}

/// Dimension 0 of the first input that has one, and of all that are as large.
void Symbols::find_batch() {
  for (const ir::NodeId id : graph_.placeholders()) {
    const Shape& shape = graph_.node(id).info.shape;
    if (shape.empty()) continue;
    const auto names = symbols_of(graph_.source, graph_.node(id).target);
    const std::string own = names.empty() ? "" : names[0];
    if (symbols_.empty()) symbol(own.empty() ? "batch" : own, shape[0]);
    Symbol& batch = symbols_.front();
    if (shape[0] == batch.size && (own.empty() || own == batch.name))
      batch.places.emplace_back(id, 0);
  }
}

void Symbols::find_symbols() {
  for (const ir::NodeId id : graph_.placeholders()) {
    const Shape& shape = graph_.node(id).info.shape;
    const auto names = symbols_of(graph_.source, graph_.node(id).target);
    for (std::size_t i = 0; i < std::min(names.size(), shape.size()); ++i) {
      if (names[i].empty()) continue;
      Symbol& one = symbol(names[i], shape[i]);
      const std::pair place{id, i};
      if (one.size == shape[i] && std::ranges::find(one.places, place) == one.places.end())
        one.places.push_back(place);
    }
  }
}

/// Whether the graph takes other sizes of the first `count` symbols; they vary then.
bool Symbols::infer(std::size_t count) {
  ir::Graph other = graph_;
  for (const Symbol& one : std::span(symbols_).first(count))
    for (const auto& [id, dim] : one.places) other.node(id).info.shape[dim] *= one.factor;
  try {
    if (ir::infer_all(other) != ir::no_node) return false;
  } catch (const Error&) {  // sizes that the graph fixes
    return false;
  }
  for (const ir::NodeId id : other.order()) others_[id] = other.node(id).info.shape;
  return true;
}

std::optional<std::int64_t> Symbols::fixed_size(ir::NodeId id, std::size_t dim) const {
  const std::int64_t size = graph_.node(id).info.shape.at(dim);
  const auto other = others_.find(id);
  const bool varies =
      other != others_.end() && dim < other->second.size() && other->second[dim] != size;
  return varies ? std::nullopt : std::optional(size);
}

std::vector<Dimension> Symbols::dimensions(ir::NodeId id) const {
  std::vector<Dimension> dimensions;
  const Shape& shape = graph_.node(id).info.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    Dimension dimension{fixed_size(id, i), ""};
    if (!dimension.size)
      for (const Symbol& one : symbols_)
        if (shape[i] == one.size && others_.at(id)[i] == one.size * one.factor)
          dimension.symbol = one.name;
    dimensions.push_back(std::move(dimension));
  }
  return dimensions;
}

}  // namespace mase::onnx
