// SPDX-License-Identifier: Apache-2.0
// From options to a mesh, from the chosen layouts to metadata and a table.
#include "passes/analysis/autoshard.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/metadata.hpp"
#include "ir/op_table.hpp"
#include "passes/analysis/operations.hpp"
#include "passes/constants/batch_powers.hpp"
#include "sharding/choose_layouts.hpp"
#include "sharding/layout_metadata.hpp"

namespace mase::passes {
namespace {

using sharding::Layouts;
using sharding::Mesh;
using sharding::NodeLayout;

Mesh mesh_of(const Autoshard::Options& options) {
  if (options.mesh_shape.size() != sharding::axis_count)
    config_error("mesh_shape must have two numbers, such as [1, 2]: machines, and devices of each");
  Mesh mesh;
  std::ranges::copy(options.mesh_shape, mesh.sizes.begin());
  mesh.bandwidth = {options.inter_node_bandwidth, options.intra_node_bandwidth};
  mesh.latency = {options.inter_node_latency, options.intra_node_latency};
  mesh.flops = options.device_flops;
  return mesh;
}

/// The first node of which only the name of its operator is known.
void require_shapes(const ir::Graph& graph) {
  for (const ir::NodeId id : graph.order())
    if (const ir::Node& node = graph.node(id); node.info.kind == ir::ValueInfo::Kind::unknown)
      config_error("the shape of node '" + node.name +
                   "' is not known; give an example input or a data set");
}

/// The questions of the search, answered by the counts and batches of other passes.
class GraphFacts {
 public:
  GraphFacts(const ir::Graph& graph, bool split_batch) : counter_(graph), batches_(graph) {
    demands_.flops = [this](const ir::Node& node) {
      return counter_.count(node).flops * static_cast<double>(counter_.batch());
    };
    if (split_batch) return;
    demands_.keeps_whole = [this](const ir::Node& node, std::size_t dim) {
      const Powers& powers = batches_.of(node.id);
      return dim < powers.size() && powers[dim] != 0;
    };
  }
  const sharding::Demands& demands() const { return demands_; }

 private:
  OperationCounter counter_;
  BatchPowers batches_;
  sharding::Demands demands_;
};

std::string microseconds(double seconds) { return fixed_text(seconds * 1e6, 2); }

std::string moves_text(const NodeLayout& layout) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < layout.operands.size(); ++i)
    if (!layout.arrivals[i].moves.empty())
      all.push_back(layout.operands[i].name + ": " + text_of(layout.arrivals[i].moves));
  if (!layout.departure.moves.empty())
    all.push_back("data_out_0: " + text_of(layout.departure.moves));
  return join(all, "; ");
}

std::string operands_text(const NodeLayout& layout) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < layout.operands.size(); ++i)
    all.push_back(layout.operands[i].name + " " + text_of(layout.strategy.operands[i]));
  return join(all, ", ");
}

/// The table of the nodes, and the same as a list for programs.
class LayoutReport {
 public:
  void add(const ir::Graph& graph, const ir::Node& node, const NodeLayout& layout) {
    const std::string op = ir::classify(graph, node).op;
    const std::string result =
        node.kind == ir::NodeKind::output ? "" : text_of(layout.strategy.result);
    table_.rows.push_back({node.name, op, operands_text(layout), result, moves_text(layout),
                           microseconds(layout.strategy.seconds), microseconds(layout.moving()),
                           fixed_text(layout.strategy.bytes, 0)});
    Tree entry = Tree::dict();
    entry["name"] = node.name;
    entry["op"] = op;
    entry["layout"] = result;
    entry["moves"] = moves_text(layout);
    entry["compute_seconds"] = layout.strategy.seconds;
    entry["moving_seconds"] = layout.moving();
    entry["bytes"] = count_tree(layout.strategy.bytes);
    nodes_.push_back(std::move(entry));
    computing_ += layout.strategy.seconds;
    moving_ += layout.moving();
  }

  void finish(const Layouts& layouts, double one_device, Result& result) {
    table_.rows.push_back({"total", "", "", "", "", microseconds(computing_), microseconds(moving_),
                           fixed_text(layouts.bytes, 0)});
    result.info["seconds"] = layouts.seconds;
    result.info["compute_seconds"] = computing_;
    result.info["moving_seconds"] = moving_;
    result.info["one_device_seconds"] = one_device;
    result.info["bytes_per_device"] = count_tree(layouts.bytes);
    result.info["variables"] = layouts.variables;
    result.info["variables_in_program"] = layouts.in_program;
    result.info["nodes"] = std::move(nodes_);
    result.tables.push_back(std::move(table_));
  }

 private:
  ReportTable table_{
      "Layouts on the mesh",
      {"Node", "Op", "Operands", "Result", "Moves", "Computing us", "Moving us", "Stored bytes"},
      {},
      "autoshard.csv"};
  Tree nodes_ = Tree::list();
  double computing_ = 0, moving_ = 0;
};

void store(ir::Graph& graph, const Layouts& layouts, const Mesh& mesh) {
  for (const auto& [id, layout] : layouts.nodes) {
    ir::Node& node = graph.node(id);
    if (node.meta.software.size() == 0) node.meta.software = ir::software_metadata(graph, node);
    sharding::write_layout(node, layout);
  }
  sharding::write_mesh(graph, mesh);
}

}  // namespace

Result Autoshard::run(ir::Graph& graph, const Options& options, PassContext&) {
  const Mesh mesh = mesh_of(options);
  require_shapes(graph);
  const GraphFacts facts(graph, options.split_batch);
  const Layouts layouts =
      choose_layouts(graph, mesh, facts.demands(), options.device_memory.value_or(-1));
  Result result;
  LayoutReport report;
  double one_device = 0;
  for (const ir::NodeId id : graph.order()) {
    const auto layout = layouts.nodes.find(id);
    if (layout == layouts.nodes.end()) continue;
    report.add(graph, graph.node(id), layout->second);
    one_device += facts.demands().flops(graph.node(id)) / mesh.flops;
  }
  result.info["devices"] = mesh.devices();
  report.finish(layouts, one_device, result);
  result.headline = counted(static_cast<std::size_t>(mesh.devices()), "device") + ": predicted " +
                    microseconds(layouts.seconds) + " us, one device " + microseconds(one_device) +
                    " us; " + fixed_text(layouts.bytes, 0) + " stored bytes per device";
  store(graph, layouts, mesh);
  return result;
}

}  // namespace mase::passes
