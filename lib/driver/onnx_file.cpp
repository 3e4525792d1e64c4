// SPDX-License-Identifier: Apache-2.0
// Writes ONNX files and describes them.
#include "driver/onnx_file.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "driver/all_passes.hpp"
#include "driver/version.hpp"
#include "onnx/model.hpp"
#include "passes/runner.hpp"

namespace mase::driver {
namespace {

onnx::FormatDialect dialect_of(const std::string& format) {
  if (format == "qdq") return onnx::FormatDialect::qdq;
  if (format == "qonnx") return onnx::FormatDialect::qonnx;
  return onnx::FormatDialect::none;
}

bool has_formats(const ir::Graph& graph) {
  return std::ranges::any_of(graph.order(),
                             [&](ir::NodeId id) { return !graph.node(id).formats.empty(); });
}

/// Runs the passes that the export needs.
void prepare(ir::Graph& graph, const std::set<std::string>& passes) {
  if (passes.empty()) return;
  passes::PassContext context;
  std::vector<passes::PassCall> calls;
  for (const std::string& name : passes) calls.push_back({name, Tree::dict(), {}});
  passes::run_passes(graph, calls, all_passes(), context, {});
}

/// "any batch", or "1 to 32 as dimension 1 of input_ids and of attention_mask".
std::string free_size_text(const Tree& size) {
  std::vector<std::string> places;
  bool rows = true;
  std::int64_t last = -1;
  for (const Tree& place : size.at("inputs").as_list()) {
    const std::int64_t dim = place.at("dim").as_int();
    rows = rows && dim == 0;
    const std::string words = dim == last ? "of " : "dimension " + std::to_string(dim) + " of ";
    places.push_back(words + place.at("name").as_string());
    last = dim;
  }
  const std::int64_t least = size.at("min").as_int();
  const bool any = size.at("max").is_null();
  if (any && least == 1) return rows ? "any batch" : "any size as " + join(places, " and ");
  return std::to_string(least) +
         (any ? " or more" : " to " + std::to_string(size.at("max").as_int())) + " as " +
         join(places, " and ");
}

std::string free_sizes_text(const Tree::List& sizes) {
  std::string text = sizes.empty() ? "\n  takes the sizes of its example" : "";
  for (const Tree& size : sizes) text += "\n  takes " + free_size_text(size);
  return text;
}

}  // namespace

void require_new_file(const std::string& path) {
  if (file_exists(path))
    config_error("'" + path + "' exists; name another file, or give --overwrite");
}

Tree write_onnx_file(const ir::Graph& graph, const std::string& path,
                     const OnnxFileRequest& request) {
  onnx::ExportOptions options;
  options.opset = request.opset;
  options.producer_version = version();
  const std::string format = request.format != "auto" ? request.format
                             : has_formats(graph)     ? "qdq"
                                                      : "float";
  options.dialect = dialect_of(format);
  options.allow_loss = request.allow_loss;
  const std::set<std::string> passes = onnx::passes_before_export(graph);
  ir::Graph prepared = graph;
  prepare(prepared, passes);
  onnx::ExportNotes notes;
  const onnx::Model model = onnx::export_model(prepared, options, &notes);
  onnx::write_model(model, path);
  Tree document = Tree::dict();
  document["opset"] = model.opsets.at("");
  document["format"] = format;
  document["nodes"] = model.graph.nodes.size();
  document["tensors"] = model.graph.initializers.size();
  document["passes"] = Tree::list();
  for (const std::string& name : passes) document["passes"].push_back(name);
  document["losses"] = Tree::list();
  for (std::string& loss : notes.losses) document["losses"].push_back(std::move(loss));
  return document;
}

std::string file_text(const std::string& path, const Tree& document) {
  std::string text = path + ": ";
  if (const Tree* nodes = document.find("nodes"))
    text += std::to_string(nodes->as_int()) + " nodes, ";
  text += std::to_string(document.at("tensors").as_int()) + " tensors";
  if (const Tree* passes = document.find("passes"))
    for (const Tree& pass : passes->as_list())
      text += "\n  written after the pass " + pass.as_string();
  if (const Tree* sizes = document.find("free_sizes")) text += free_sizes_text(sizes->as_list());
  if (const Tree* losses = document.find("losses"))
    for (const Tree& loss : losses->as_list()) text += "\n  left out: " + loss.as_string();
  return text;
}

}  // namespace mase::driver
