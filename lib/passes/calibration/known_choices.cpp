// SPDX-License-Identifier: Apache-2.0
// Compares float models, and keeps the choices of one.
#include "passes/calibration/known_choices.hpp"

#include <algorithm>

namespace mase::passes {
namespace {

bool same_node(const ir::Node& a, const ir::Node& b) {
  return a.name == b.name && a.kind == b.kind && a.target == b.target && a.op == b.op &&
         a.args == b.args && a.body == b.body && a.info == b.info;
}

bool same_module(const ir::Module& a, const ir::Module& b) {
  return a.op == b.op && a.attributes == b.attributes && a.tensors == b.tensors;
}

bool same_tensor(const ir::Tensor& a, const ir::Tensor& b) {
  return a.value.dtype() == b.value.dtype() && a.value.shape() == b.value.shape() &&
         a.value.bytes() == b.value.bytes();
}

template <class Map, class Same>
bool same_entries(const Map& a, const Map& b, Same same) {
  return std::ranges::equal(a, b, [&](const auto& one, const auto& other) {
    return one.first == other.first && same(one.second, other.second);
  });
}

}  // namespace

bool same_float_model(const ir::Graph& a, const ir::Graph& b) {
  return a.order() == b.order() &&
         std::ranges::all_of(a.order(),
                             [&](ir::NodeId id) { return same_node(a.node(id), b.node(id)); }) &&
         same_entries(a.modules, b.modules, same_module) &&
         same_entries(a.tensors, b.tensors, same_tensor) && a.custom_ops == b.custom_ops;
}

std::optional<PortChoice> KnownChoices::find(const ir::Graph& graph, const std::string& question) {
  const std::lock_guard lock(mutex_);
  const auto found = choices_.find(question);
  if (found == choices_.end() || !same_float_model(*model_, graph)) return std::nullopt;
  return found->second;
}

void KnownChoices::add(const ir::Graph& graph, const std::string& question,
                       const PortChoice& choice) {
  const std::lock_guard lock(mutex_);
  if (!model_) model_ = graph;
  if (same_float_model(*model_, graph)) choices_.insert_or_assign(question, choice);
}

}  // namespace mase::passes
