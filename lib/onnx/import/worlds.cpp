// SPDX-License-Identifier: Apache-2.0
// Runs the rules of shape inference twice.
#include "onnx/import/worlds.hpp"

#include "base/error.hpp"

namespace mase::onnx {

const ir::ValueInfo& Worlds::World::info(ir::NodeId id) const { return infos.at(id); }

std::optional<std::int64_t> Worlds::World::integer(ir::NodeId id) const {
  const auto found = integers.find(id);
  return found == integers.end() ? std::nullopt : std::optional(found->second);
}

void Worlds::input(ir::NodeId id, ir::ValueInfo example, ir::ValueInfo other) {
  graph_.node(id).info = example;
  worlds_[0].infos[id] = std::move(example);
  worlds_[1].infos[id] = std::move(other);
}

void Worlds::infer_in(World& world, const ir::Node& node) {
  const ir::Graph& graph = graph_;
  const auto info = ir::infer(graph, node, world);
  if (!info) unsupported_error("the shape of " + node.op + " is not known");
  world.infos[node.id] = *info;
  if (const auto value = ir::host_integer(graph, node, world)) world.integers[node.id] = *value;
}

void Worlds::infer(ir::NodeId id) {
  ir::Node& node = graph_.node(id);
  infer_in(worlds_[0], node);
  node.info = worlds_[0].infos.at(id);
  if (only_example_.empty()) {
    try {
      infer_in(worlds_[1], node);
      return;
    } catch (const Error& error) {
      only_example_ = node.name + ": " + error.what();
      worlds_[1].infos = worlds_[0].infos;
      worlds_[1].integers = worlds_[0].integers;
      return;
    }
  }
  worlds_[1].infos[id] = node.info;
  if (const auto value = worlds_[0].integer(id)) worlds_[1].integers[id] = *value;
}

std::optional<std::int64_t> Worlds::fixed_size(ir::NodeId tensor, std::size_t dim) const {
  const std::int64_t size = worlds_[0].infos.at(tensor).shape.at(dim);
  return size == worlds_[1].infos.at(tensor).shape.at(dim) ? std::optional(size) : std::nullopt;
}

std::optional<std::array<std::int64_t, 2>> Worlds::integers(ir::NodeId id) const {
  const auto example = worlds_[0].integer(id), other = worlds_[1].integer(id);
  if (!example || !other) return std::nullopt;
  return std::array{*example, *other};
}

std::optional<std::int64_t> Worlds::fixed_integer(ir::NodeId id) const {
  const auto both = integers(id);
  return both && (*both)[0] == (*both)[1] ? std::optional((*both)[0]) : std::nullopt;
}

}  // namespace mase::onnx
