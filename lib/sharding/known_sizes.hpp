// SPDX-License-Identifier: Apache-2.0
// The numbers in a graph that follow from its shapes.
#pragma once

#include <map>
#include <optional>

#include "ir/inference.hpp"

namespace mase::sharding {

/// The sizes that a graph of known shapes computes.
class KnownSizes : public ir::KnownResults {
 public:
  explicit KnownSizes(const ir::Graph& graph) : graph_(graph) {
    for (const ir::NodeId id : graph.order())
      if (const auto value = ir::host_integer(graph, graph.node(id), *this)) values_[id] = *value;
  }
  const ir::ValueInfo& info(ir::NodeId id) const override { return graph_.node(id).info; }
  std::optional<std::int64_t> integer(ir::NodeId id) const override {
    const auto found = values_.find(id);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  const ir::Graph& graph_;
  std::map<ir::NodeId, std::int64_t> values_;
};

}  // namespace mase::sharding
