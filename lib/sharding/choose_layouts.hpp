// SPDX-License-Identifier: Apache-2.0
// The layouts of all values of a graph with which a mesh of devices computes it soonest.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "sharding/cost_network.hpp"
#include "sharding/reshard.hpp"
#include "sharding/strategies.hpp"

namespace mase::sharding {

/// Whether devices compute this node in some layout. Sizes are known to all, and tensors that the
/// model holds are split by their readers.
bool has_layout(const ir::Graph& graph, const ir::Node& node);

/// How one node is computed.
struct NodeLayout {
  std::vector<Operand> operands;
  Strategy strategy;
  Layout result;                  ///< in which the readers find the result
  std::vector<Reshard> arrivals;  ///< one per operand, from the layout in which this node finds it
  Reshard departure;              ///< from the layout in which the result is computed
  Reshard leaving;                ///< to the whole result, if another stage reads it
  /// Seconds of the moves of operands and of the result.
  double moving() const;
};

/// The layouts of a graph. `seconds` is the sum of computing and moving over all nodes.
struct Layouts {
  std::map<ir::NodeId, NodeLayout> nodes;
  double seconds = 0;
  double bytes = 0;  ///< of stored tensors, on each device
  std::size_t variables = 0, in_program = 0;
};

/// The nodes of a graph that one mesh computes. What other nodes compute arrives whole on every
/// device, and `leaving` results become whole for others.
struct GraphPart {
  std::vector<ir::NodeId> nodes;  ///< in the order of the graph, all of which have layouts
  std::set<ir::NodeId> leaving;
};
GraphPart whole_graph(const ir::Graph& graph);

/// Chooses the cheapest layouts. A result that several nodes read is moved once to the layout in
/// which they find it; what differs still is moved for each reader. Inputs and outputs of the graph
/// are whole on every device, since a caller gives and wants them so; taking a part is free.
///
/// With `most_bytes` (negative for no limit) stored tensors take no more on each device.
/// Error(Fault::config) names the greatest tensor if that is impossible, and a dimension if the
/// devices along an axis cannot share anything.
Layouts choose_layouts(const ir::Graph& graph, const Mesh& mesh, const Demands& demands,
                       double most_bytes, const SolverOptions& options = {});

/// The network of costs behind it: for each node a variable with its strategies, and for each
/// result that may be split one with the layouts in which its readers may find it.
class LayoutNetwork {
 public:
  LayoutNetwork(const ir::Graph& graph, const GraphPart& part, const Mesh& mesh,
                const Demands& demands, double most_bytes);

  const CostNetwork& costs() const { return costs_; }
  /// The axes along which devices can share a loop of some node.
  AxisSet shared_axes() const { return shared_; }
  Layouts read(const std::vector<std::size_t>& choices);

 private:
  struct NodeVariables {
    std::vector<Operand> operands;
    std::vector<Strategy> strategies;
    std::size_t own = 0;
    std::vector<Layout> found;  ///< layouts in which readers may find the result; may be empty
    std::size_t result = 0;     ///< the variable of `found`
    ir::ValueInfo info;
  };

  void add(const ir::Node& node, const ir::Graph& graph, const Demands& demands);
  void add_result(const ir::Node& node, NodeVariables& made);
  void add_leaving(const NodeVariables& made);
  void connect(const NodeVariables& reader);
  void add_pair(std::size_t first, const std::vector<Layout>& from, std::size_t second,
                const std::vector<Layout>& to, const ir::ValueInfo& info);
  double seconds(const Layout& from, const Layout& to, const ir::ValueInfo& info);
  Reshard way(const Layout& from, const Layout& to, const ir::ValueInfo& info);

  const Mesh& mesh_;
  Resharder resharder_;
  CostNetwork costs_;
  AxisSet shared_ = 0;
  std::set<ir::NodeId> leaving_;
  std::map<ir::NodeId, NodeVariables> nodes_;
};

}  // namespace mase::sharding
