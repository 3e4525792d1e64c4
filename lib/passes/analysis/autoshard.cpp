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
#include "sharding/choose_stages.hpp"
#include "sharding/layout_metadata.hpp"

namespace mase::passes {
namespace {

using sharding::Layouts;
using sharding::Mesh;
using sharding::NodeLayout;
using sharding::Pipeline;

Mesh mesh_of(const Autoshard::Options& options) {
  if (options.mesh_shape.size() != sharding::axis_count)
    config_error("mesh_shape must have two numbers, such as [1, 2]: machines, and devices of each");
  Mesh mesh;
  std::ranges::copy(options.mesh_shape, mesh.sizes.begin());
  mesh.bandwidth = {options.inter_node_bandwidth, options.intra_node_bandwidth};
  mesh.latency = {options.inter_node_latency, options.intra_node_latency};
  mesh.flops = options.device_flops;
  mesh.memory_bandwidth = options.memory_bandwidth;
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
  if (!layout.leaving.moves.empty())
    all.push_back("to other stages: " + text_of(layout.leaving.moves));
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

/// The stages as a table and for programs.
void report_stages(const ir::Graph& graph, const Pipeline& pipeline, Result& result) {
  ReportTable table{"Stages of the pipeline",
                    {"Stage", "Devices", "First node", "Last node", "Nodes", "Computing us",
                     "Receiving us", "Stored bytes"},
                    {},
                    "autoshard_stages.csv"};
  Tree stages = Tree::list();
  const std::int64_t each = pipeline.mesh.devices();
  for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
    const sharding::Stage& stage = pipeline.stages[i];
    const std::int64_t first = static_cast<std::int64_t>(i) * each;
    const std::string& begin = graph.node(stage.part.nodes.front()).name;
    const std::string& end = graph.node(stage.part.nodes.back()).name;
    table.rows.push_back(
        {std::to_string(i), std::to_string(first) + " to " + std::to_string(first + each - 1),
         begin, end, std::to_string(stage.part.nodes.size()), microseconds(stage.layouts.seconds),
         microseconds(stage.receiving), fixed_text(stage.layouts.bytes, 0)});
    Tree entry = Tree::dict();
    entry["first_device"] = first;
    entry["devices"] = each;
    entry["first_node"] = begin;
    entry["last_node"] = end;
    entry["seconds"] = stage.seconds();
    entry["receiving_seconds"] = stage.receiving;
    entry["bytes"] = count_tree(stage.layouts.bytes);
    stages.push_back(std::move(entry));
  }
  result.info["stages"] = std::move(stages);
  result.tables.push_back(std::move(table));
}

void store(ir::Graph& graph, const Layouts& layouts, const Mesh& mesh, std::size_t stages) {
  for (const auto& [id, layout] : layouts.nodes) {
    ir::Node& node = graph.node(id);
    if (node.meta.software.size() == 0) node.meta.software = ir::software_metadata(graph, node);
    sharding::write_layout(node, layout);
  }
  sharding::write_mesh(graph, mesh, stages);
}

/// The layouts of all stages together. Inputs are whole on all devices.
Layouts all_layouts(const ir::Graph& graph, const Pipeline& pipeline) {
  Layouts all;
  for (const ir::NodeId id : graph.placeholders()) {
    NodeLayout& input = all.nodes[id];
    const Shape* shape = sharding::shape_of(graph.node(id).info);
    input.result = input.strategy.result = sharding::Layout::whole(shape ? shape->size() : 0);
  }
  for (const sharding::Stage& stage : pipeline.stages) {
    all.nodes.insert(stage.layouts.nodes.begin(), stage.layouts.nodes.end());
    all.bytes = std::max(all.bytes, stage.layouts.bytes);
    all.variables += stage.layouts.variables;
    all.in_program += stage.layouts.in_program;
  }
  all.seconds = pipeline.seconds;
  return all;
}

std::string headline(const Autoshard::Options& options, const Layouts& layouts, double one_device) {
  const std::int64_t devices = options.mesh_shape[0] * options.mesh_shape[1];
  std::string text = counted(static_cast<std::size_t>(devices), "device");
  if (options.stages > 1) {
    one_device *= static_cast<double>(options.micro_batches);
    text += " in " + std::to_string(options.stages) + " stages, " +
            std::to_string(options.micro_batches) + " micro-batches";
  }
  return text + ": predicted " + microseconds(layouts.seconds) + " us, one device " +
         microseconds(one_device) + " us; " + fixed_text(layouts.bytes, 0) +
         " stored bytes per device";
}

}  // namespace

Result Autoshard::run(ir::Graph& graph, const Options& options, PassContext&) {
  const Mesh mesh = mesh_of(options);
  require_shapes(graph);
  const GraphFacts facts(graph, options.split_batch);
  const double most_bytes = options.device_memory.value_or(-1);
  Result result;
  Layouts layouts;
  Pipeline pipeline{mesh, {}, 0, 0};
  if (options.stages > 1) {
    pipeline = choose_stages(
        graph, mesh, facts.demands(), most_bytes,
        {static_cast<std::size_t>(options.stages), static_cast<double>(options.micro_batches)});
    layouts = all_layouts(graph, pipeline);
  } else {
    layouts = choose_layouts(graph, mesh, facts.demands(), most_bytes);
  }
  LayoutReport report;
  double one_device = 0;
  for (const ir::NodeId id : graph.order()) {
    const auto layout = layouts.nodes.find(id);
    if (layout == layouts.nodes.end()) continue;
    report.add(graph, graph.node(id), layout->second);
    one_device +=
        sharding::whole_seconds(mesh, graph.node(id), layout->second.operands, facts.demands());
  }
  result.info["devices"] = mesh.devices();
  report.finish(layouts, one_device, result);
  result.headline = headline(options, layouts, one_device);
  store(graph, layouts, pipeline.mesh, static_cast<std::size_t>(options.stages));
  if (options.stages > 1) report_stages(graph, pipeline, result);
  for (std::size_t i = 0; i < pipeline.stages.size(); ++i)
    for (const ir::NodeId id : pipeline.stages[i].part.nodes)
      sharding::write_stage(graph.node(id), i);
  return result;
}

}  // namespace mase::passes
