// SPDX-License-Identifier: Apache-2.0
// `mase convert` writes a model as a file of another kind: ONNX, or TorchScript.
#include <filesystem>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/log.hpp"
#include "driver/commands/commands.hpp"
#include "driver/loading/load_model.hpp"
#include "driver/loading/model_input.hpp"
#include "driver/output.hpp"
#include "driver/save_checkpoint.hpp"
#include "driver/version.hpp"
#include "onnx/export.hpp"
#include "sandbox/policy.hpp"

namespace mase::driver {
namespace {

onnx::FormatDialect dialect_of(const std::string& format) {
  if (format == "qdq") return onnx::FormatDialect::qdq;
  if (format == "qonnx") return onnx::FormatDialect::qonnx;
  return onnx::FormatDialect::none;
}

void require_new(const ConvertRequest& request) {
  if (!request.overwrite && file_exists(request.output))
    config_error("'" + request.output + "' exists; name another file, or give --overwrite");
}

Tree write_onnx(const ConvertRequest& request, const ir::Graph& graph) {
  onnx::ExportOptions options;
  options.opset = request.opset;
  options.producer_version = version();
  options.dialect = dialect_of(request.format);
  options.allow_loss = request.allow_loss;
  std::vector<std::string> losses;
  const onnx::Model model = onnx::export_model(graph, options, &losses);
  onnx::write_model(model, request.output);
  Tree document = Tree::dict();
  document["opset"] = options.opset;
  document["format"] = request.format;
  document["nodes"] = model.graph.nodes.size();
  document["tensors"] = model.graph.initializers.size();
  document["losses"] = Tree::list();
  for (std::string& loss : losses) document["losses"].push_back(std::move(loss));
  return document;
}

Tree write_torchscript(const ConvertRequest& request, const LoadedModel& model) {
  save_checkpoint(model.graph, request.output,
                  model.info.is_null() ? checkpoint_info("", nullptr) : model.info);
  Tree document = Tree::dict();
  document["nodes"] = model.graph.order().size();
  document["tensors"] = model.graph.tensors.size();
  return document;
}

}  // namespace

int convert(const ConvertRequest& request) {
  const std::string ending = std::filesystem::path(request.output).extension().string();
  if (ending != ".onnx" && ending != ".pt")
    config_error(request.output + ": the name must end in .onnx (ONNX) or .pt (TorchScript)");
  if (ending == ".pt" && request.format != "float")
    config_error("--format " + request.format +
                 ": only a file of ONNX has it; a .pt file has the " +
                 "number formats as they are");
  require_new(request);
  keep_inputs({request.output}, files_read(request.model, request.input), "");
  sandbox::will_output(request.output);
  ModelRequest wanted;
  wanted.model = request.model;
  wanted.input = request.input;
  const LoadedModel model = load_model(wanted);
  Output output(request.json);
  output.document() =
      ending == ".onnx" ? write_onnx(request, model.graph) : write_torchscript(request, model);
  output.document()["file"] = request.output;
  output.text(request.output + ": " + std::to_string(output.document()["nodes"].as_int()) +
              " nodes, " + std::to_string(output.document()["tensors"].as_int()) + " tensors");
  if (const Tree* losses = output.document().find("losses"))
    for (const Tree& loss : losses->as_list()) output.text("  left out: " + loss.as_string());
  output.finish();
  return 0;
}

}  // namespace mase::driver
