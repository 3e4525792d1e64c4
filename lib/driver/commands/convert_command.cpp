// SPDX-License-Identifier: Apache-2.0
// `mase convert` writes a model as a file of another kind: ONNX, TorchScript, or its
// weights alone.
#include <filesystem>

#include "base/error.hpp"
#include "driver/commands/commands.hpp"
#include "driver/loading/load_model.hpp"
#include "driver/loading/model_input.hpp"
#include "driver/onnx_file.hpp"
#include "driver/output.hpp"
#include "driver/save_checkpoint.hpp"
#include "safetensors/safetensors.hpp"
#include "sandbox/policy.hpp"

namespace mase::driver {
namespace {

Tree write_torchscript(const ConvertRequest& request, const LoadedModel& model) {
  save_checkpoint(model.graph, request.output,
                  model.info.is_null() ? checkpoint_info("", nullptr) : model.info);
  Tree document = Tree::dict();
  document["nodes"] = model.graph.order().size();
  document["tensors"] = model.graph.tensors.size();
  return document;
}

/// The keys of the state_dict, tied ones included, but not the constants of the model's code.
Tree write_weights(const ConvertRequest& request, const ir::Graph& graph) {
  std::map<std::string, Array> tensors;
  for (const auto& [path, tensor] : graph.tensors)
    if (!path.starts_with("_tensor_constant") && tensor.begins.empty())
      for (const std::string& name : ir::names_of(path, tensor)) tensors[name] = tensor.value;
  safetensors::write_tensors(request.output, tensors);
  Tree document = Tree::dict();
  document["tensors"] = tensors.size();
  return document;
}

}  // namespace

int convert(const ConvertRequest& request) {
  const std::string ending = std::filesystem::path(request.output).extension().string();
  if (ending != ".onnx" && ending != ".pt" && ending != ".safetensors")
    config_error(
        request.output +
        ": the name must end in .onnx (ONNX), .pt (TorchScript) or .safetensors (weights)");
  if (!request.overwrite) require_new_file(request.output);
  if (ending != ".onnx" && request.onnx.format != "auto")
    config_error("--format " + request.onnx.format +
                 ": only ONNX files have it; a .pt file has the number formats as they are, and a "
                 ".safetensors file has weights before they are quantized");
  keep_inputs({request.output}, files_read(request.model, request.input), "");
  sandbox::will_output(request.output);
  ModelRequest wanted;
  wanted.model = request.model;
  wanted.input = request.input;
  const LoadedModel model = load_model(wanted);
  Output output(request.json);
  if (ending == ".onnx")
    output.document() = write_onnx_file(model.graph, request.output, request.onnx);
  else if (ending == ".pt")
    output.document() = write_torchscript(request, model);
  else
    output.document() = write_weights(request, model.graph);
  output.document()["file"] = request.output;
  output.text(file_text(request.output, output.document()));
  output.finish();
  return 0;
}

}  // namespace mase::driver
