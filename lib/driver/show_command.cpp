// `mase show`: the graph of a model as text, table, JSON, dot or SVG.
#include "base/file.hpp"
#include "driver/commands.hpp"
#include "driver/load_model.hpp"
#include "driver/output.hpp"
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

}  // namespace

int show(const ShowRequest& request) {
  ModelRequest wanted;
  wanted.model = request.model;
  wanted.inputs = request.input.inputs;
  wanted.input_shapes = request.input.input_shapes;
  wanted.leaf_modules = request.input.leaf_modules;
  wanted.leaf_functions = request.input.leaf_functions;
  std::optional<data::Dataset> dataset;
  if (request.dataset) dataset = data::load_dataset(*request.dataset, {});
  wanted.dataset = dataset ? &*dataset : nullptr;
  wanted.example_rows = 1;
  LoadedModel model = load_model(wanted);
  const std::string text = render(model.graph, request.format);
  if (request.output)
    write_file(*request.output, text);
  else
    Output(false).text(text);
  return 0;
}

}  // namespace mase::driver
