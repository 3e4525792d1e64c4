// SPDX-License-Identifier: Apache-2.0
// `mase show`: the graph of a model as text, table, JSON, dot or SVG, or its integer steps.
#include "base/file.hpp"
#include "checkpoint/archive.hpp"
#include "driver/commands.hpp"
#include "driver/load_model.hpp"
#include "driver/output.hpp"
#include "hardware/integer/program.hpp"
#include "ir/draw.hpp"
#include "ir/metadata.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"
#include "report/table.hpp"

namespace mase::driver {
namespace {

std::string node_table(const ir::Graph& graph) {
  std::vector<std::vector<std::string>> rows;
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    std::string formats;
    for (const auto& [port, format] : node.formats)
      formats += (formats.empty() ? "" : ", ") + port + "=" + format.text();
    rows.push_back({std::string(ir::kind_name(node.kind)), node.name, node.target,
                    ir::classify(graph, node).op, ir::print(node.info), formats});
  }
  return report::plain({"op", "name", "target", "mase op", "result", "formats"}, rows);
}

std::string render(ir::Graph& graph, const std::string& format) {
  if (format == "text") return ir::print(graph, {.metadata = false});
  if (format == "table") return node_table(graph);
  if (format == "dot") return ir::to_dot(graph);
  if (format == "svg") return ir::to_svg(graph);
  for (ir::NodeId id : graph.order()) {
    ir::Node& node = graph.node(id);
    if (node.meta.common.size() == 0) node.meta.common = ir::common_metadata(graph, node);
    if (node.meta.software.size() == 0) node.meta.software = ir::software_metadata(graph, node);
  }
  return to_json(ir::graph_json(graph)) + "\n";
}

/// The graph of a checkpoint is read without its weights, hence without LibTorch.
ir::Graph graph_of(const ShowRequest& request) {
  if (file_exists(request.model))
    if (auto contents = checkpoint::read_contents(request.model)) return std::move(contents->graph);
  ModelRequest wanted;
  wanted.model = request.model;
  wanted.input = request.input;
  std::optional<data::Dataset> dataset;
  if (request.dataset) dataset = data::load_dataset(*request.dataset, {});
  wanted.dataset = dataset ? &*dataset : nullptr;
  wanted.example_rows = 1;
  return load_model(wanted).graph;
}

/// The integer steps of a quantized checkpoint; the bounds of accumulators need its weights.
std::string program_of(const ShowRequest& request) {
  return integer::program_text(integer::lower(load_checkpoint(request.model).graph));
}

std::string text_of(const ShowRequest& request) {
  if (request.format == "program") return program_of(request);
  ir::Graph graph = graph_of(request);
  return render(graph, request.format);
}

}  // namespace

int show(const ShowRequest& request) {
  const std::string text = text_of(request);
  if (request.output)
    write_file(*request.output, text);
  else
    Output(false).text(text);
  return 0;
}

}  // namespace mase::driver
