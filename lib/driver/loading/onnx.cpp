// SPDX-License-Identifier: Apache-2.0
// ONNX files. The graph is built without LibTorch; inputs without an example have the sizes that
// the file says, and small ones in the place of its symbols.
#include "base/error.hpp"
#include "driver/loading/sources.hpp"
#include "onnx/import.hpp"

namespace mase::driver {
namespace {

void refuse_torchscript_options(const ModelRequest& request) {
  if (const char* option = option_about_modules(request.input))
    config_error(std::string(option) + ": " + request.model +
                 " is an ONNX file, which has no modules; use this option with a TorchScript file");
}

}  // namespace

std::optional<LoadedModel> from_onnx(const ModelRequest& request) {
  if (!onnx::is_onnx(request.model)) return std::nullopt;
  refuse_torchscript_options(request);
  const onnx::Model model = onnx::read_model(request.model);
  onnx::ImportOptions options;
  options.path = request.model;
  options.fixed = fixed_values(request);
  if (request.input.most_operators) options.most_nodes = *request.input.most_operators;
  std::vector<std::string> names;
  for (const onnx::ValueInfo* input : onnx::inputs_of(model))
    if (!options.fixed.contains(input->name)) names.push_back(input->name);
  options.inputs = by_name(requested_inputs(request, names), names);
  onnx::Imported imported = onnx::import_model(model, options);
  return with_examples(request, std::move(imported.graph), imported.notes, options.inputs);
}

}  // namespace mase::driver
