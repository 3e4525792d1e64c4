// SPDX-License-Identifier: Apache-2.0
// `mase convert` writes a model as a file of another kind: ONNX, or TorchScript.
#include <filesystem>

#include "base/error.hpp"
#include "driver/commands/commands.hpp"
#include "driver/loading/load_model.hpp"
#include "driver/loading/model_input.hpp"
#include "driver/onnx_file.hpp"
#include "driver/output.hpp"
#include "driver/save_checkpoint.hpp"
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

}  // namespace

int convert(const ConvertRequest& request) {
  const std::string ending = std::filesystem::path(request.output).extension().string();
  if (ending != ".onnx" && ending != ".pt")
    config_error(request.output + ": the name must end in .onnx (ONNX) or .pt (TorchScript)");
  if (!request.overwrite) require_new_file(request.output);
  if (ending == ".pt" && request.onnx.format != "auto")
    config_error("--format " + request.onnx.format +
                 ": only ONNX files have it; a .pt file has the number formats as they are");
  keep_inputs({request.output}, files_read(request.model, request.input), "");
  sandbox::will_output(request.output);
  ModelRequest wanted;
  wanted.model = request.model;
  wanted.input = request.input;
  const LoadedModel model = load_model(wanted);
  Output output(request.json);
  output.document() = ending == ".onnx" ? write_onnx_file(model.graph, request.output, request.onnx)
                                        : write_torchscript(request, model);
  output.document()["file"] = request.output;
  output.text(file_text(request.output, output.document()));
  output.finish();
  return 0;
}

}  // namespace mase::driver
