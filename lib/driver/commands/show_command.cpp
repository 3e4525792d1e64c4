// SPDX-License-Identifier: Apache-2.0
// `mase show` writes a model's graph as text, table, JSON, dot or picture, or its integer steps.
#include <algorithm>
#include <array>
#include <filesystem>

#include "base/file.hpp"
#include "checkpoint/archive.hpp"
#include "driver/commands/commands.hpp"
#include "driver/custom_ops.hpp"
#include "driver/loading/load_model.hpp"
#include "driver/loading/model_input.hpp"
#include "driver/loading/sources.hpp"
#include "driver/loading/text_input.hpp"
#include "driver/output.hpp"
#include "driver/store/stored_points.hpp"
#include "driver/stored_data.hpp"
#include "hardware/integer/program.hpp"
#include "ir/allowed_operators.hpp"
#include "ir/draw.hpp"
#include "ir/metadata.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"
#include "report/table.hpp"
#include "sandbox/policy.hpp"

namespace mase::driver {
namespace {

std::string node_table(const ir::Graph& graph) {
  std::vector<std::vector<std::string>> rows;
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    std::string formats;
    for (const auto& [port, format] : node.formats)
      formats += (formats.empty() ? "" : ", ") + port + "=" + format.short_text();
    rows.push_back({std::string(ir::kind_name(node.kind)), node.name, node.target,
                    ir::classify(graph, node).op, ir::print(node.info), formats});
  }
  return report::plain({"op", "name", "target", "mase op", "result", "formats"}, rows);
}

constexpr std::array pictures{"svg", "png", "pdf"};

bool is_picture(const std::string& format) {
  return std::find(pictures.begin(), pictures.end(), format) != pictures.end();
}

/// The format that was requested, or the one that follows from the extension of the output.
std::string format_of(const ShowRequest& request) {
  if (request.format) return *request.format;
  if (!request.output) return "text";
  const std::string ending = std::filesystem::path(*request.output).extension().string();
  for (const char* other : {".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".eps"})
    if (ending == other)
      config_error(*request.output + ": pictures cannot be written as " + ending +
                   "; use .svg, .png or .pdf");
  const bool known =
      ending == ".dot" || ending == ".json" || (!ending.empty() && is_picture(ending.substr(1)));
  return known ? ending.substr(1) : "text";
}

std::string render(ir::Graph& graph, const std::string& format) {
  if (format == "text") return ir::print(graph, {.metadata = false});
  if (format == "table") return node_table(graph);
  if (format == "dot") return ir::to_dot(graph);
  if (is_picture(format)) return ir::to_picture(graph, format);
  for (ir::NodeId id : graph.order()) {
    ir::Node& node = graph.node(id);
    if (node.meta.common.size() == 0) node.meta.common = ir::common_metadata(graph, node);
    if (node.meta.software.size() == 0) node.meta.software = ir::software_metadata(graph, node);
  }
  return to_json(ir::graph_json(graph)) + "\n";
}

/// Reads the graph of a checkpoint without its weights, and so without LibTorch.
ir::Graph graph_of(const ShowRequest& request) {
  if (may_be_checkpoint(request.model)) {
    if (auto contents = checkpoint::read_contents(request.model)) {
      ir::require_allowed(contents->graph, request.model);
      return std::move(contents->graph);
    }
  }
  auto dataset = given_dataset({request.model}, request.data);
  ModelInput input = request.input;
  take_text_options(request.data, input);
  return load_graph(request.model, input, dataset ? &*dataset : nullptr, 1);
}

/// The integer steps of a quantized checkpoint. The bounds of accumulators need its weights.
std::string program_of(const ShowRequest& request) {
  return integer::program_text(integer::lower(load_checkpoint(request.model).graph));
}

std::string text_of(const ShowRequest& request) {
  const std::string format = format_of(request);
  if (!request.output && (format == "png" || format == "pdf"))
    config_error("--format " + format + " needs an output file, such as -o model." + format);
  if (format == "program") return program_of(request);
  if (request.output) sandbox::will_output(*request.output);
  if (is_picture(format)) sandbox::may_run_program("dot");
  ir::Graph graph = graph_of(request);
  if (request.input.custom_ops.empty()) warn_of_foreign_files(graph, {}, request.model);
  return render(graph, format);
}

}  // namespace

int show(const ShowRequest& given) {
  ShowRequest request = given;
  request.model = local_file(request.model);
  if (request.output && !request.overwrite)
    keep_inputs({*request.output}, files_read(request.model, request.input));
  write_or_print(request.output, text_of(request));
  return 0;
}

}  // namespace mase::driver
