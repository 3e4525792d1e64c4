// SPDX-License-Identifier: Apache-2.0
// Measure: the sizes of all results of a graph for given sizes of its inputs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ir/graph.hpp"

namespace mase::pt2 {

/// A dimension of an input.
struct Place {
  ir::NodeId input = ir::no_node;
  std::size_t dim = 0;
  bool operator==(const Place&) const = default;
};

/// All sizes, and all integers of the host, in the order of the nodes.
struct Measured {
  std::vector<std::size_t> ranks;  ///< and lengths of containers
  std::vector<std::int64_t> sizes;
};

class Measure {
 public:
  explicit Measure(const ir::Graph& graph);

  /// The graph as it is. Results that its importer did not know are inferred.
  const ir::Graph& graph() const { return own_; }
  const Measured& measured() const { return measured_; }
  std::optional<std::int64_t> integer(ir::NodeId id) const;
  /// Where the sizes of a node's result begin, first its own and then those of its elements; an
  /// integer has one "size".
  std::size_t first_size(ir::NodeId id) const { return first_.at(id); }
  /// The graph with other sizes of its inputs; nullopt if a rule is missing, or if the sizes do not
  /// fit.
  std::optional<Measured> with(const std::vector<std::pair<Place, std::int64_t>>& sizes);

 private:
  using Integers = std::map<ir::NodeId, std::int64_t>;
  class KnownSoFar;
  bool infer(ir::Graph& graph, Integers& integers, bool own_sizes) const;
  Measured all_sizes(const ir::Graph& graph, const Integers& integers) const;

  ir::Graph own_, other_;
  Integers integers_, other_integers_;
  std::map<ir::NodeId, std::size_t> first_;
  Measured measured_;
};

}  // namespace mase::pt2
