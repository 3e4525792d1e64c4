// SPDX-License-Identifier: Apache-2.0
// Shapes while a graph grows, for the example's sizes and for others at once. A size that is the
// same for both does not depend on the symbols of the file, and is a constant of the graph.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ir/graph.hpp"
#include "ir/inference.hpp"

namespace mase::onnx {

class Worlds {
 public:
  explicit Worlds(ir::Graph& graph) : graph_(graph) {}

  /// Says what an input is: `example` in the graph, `other` where all symbols have other sizes.
  void input(ir::NodeId id, ir::ValueInfo example, ir::ValueInfo other);
  /// Infers the result of a new node. Error(Fault::unsupported) when its operator has no rule, and
  /// what inference throws when shapes do not fit the example.
  void infer(ir::NodeId id);

  /// The size of a dimension, if it is the same whatever the symbols are.
  std::optional<std::int64_t> fixed_size(ir::NodeId tensor, std::size_t dim) const;
  /// The value of a host integer, if it is the same whatever the symbols are.
  std::optional<std::int64_t> fixed_integer(ir::NodeId id) const;

  /// The values of a host integer for the example's sizes and for the others; nullopt if one of
  /// them is not known.
  std::optional<std::array<std::int64_t, 2>> integers(ir::NodeId id) const;

  /// Why the graph fits the example's sizes only: the node and the reason; "" while it fits others.
  const std::string& only_example() const { return only_example_; }

 private:
  struct World : ir::KnownResults {
    std::map<ir::NodeId, ir::ValueInfo> infos;
    std::map<ir::NodeId, std::int64_t> integers;
    const ir::ValueInfo& info(ir::NodeId id) const override;
    std::optional<std::int64_t> integer(ir::NodeId id) const override;
  };
  void infer_in(World& world, const ir::Node& node);

  ir::Graph& graph_;
  std::array<World, 2> worlds_;
  std::string only_example_;
};

}  // namespace mase::onnx
