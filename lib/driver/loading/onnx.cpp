// SPDX-License-Identifier: Apache-2.0
// ONNX files. The graph is built without LibTorch; inputs without an example have the sizes that
// the file says, and small ones in the place of its symbols.
#include <algorithm>

#include "base/error.hpp"
#include "base/log.hpp"
#include "driver/custom_ops.hpp"
#include "driver/loading/sources.hpp"
#include "onnx/import.hpp"

namespace mase::driver {
namespace {

void refuse_options(const ModelRequest& request) {
  if (const char* option = option_about_modules(request.input))
    config_error(std::string(option) + ": " + request.model +
                 " is an ONNX file, which has no modules; use this option with a TorchScript file");
}

/// The examples by the names of the inputs that they are for.
std::map<std::string, Array> by_name(ExampleInputs examples,
                                     const std::vector<std::string>& names) {
  if (examples.values.size() > names.size())
    config_error(std::to_string(examples.values.size()) + " example inputs were given, but the " +
                 "model has " + std::to_string(names.size()));
  std::map<std::string, Array> inputs;
  for (std::size_t i = 0; i < examples.values.size(); ++i)
    inputs.emplace(examples.names.empty() ? names[i] : examples.names[i],
                   std::move(examples.values[i]));
  return inputs;
}

/// The examples in the order of the graph's inputs, zeros where there is none.
std::vector<Array> in_order(const ir::Graph& graph, const std::map<std::string, Array>& examples) {
  std::vector<Array> inputs;
  for (const ir::NodeId id : graph.placeholders()) {
    const ir::Node& node = graph.node(id);
    const auto given = examples.find(node.target);
    if (given == examples.end())
      inputs.emplace_back(node.info.dtype, node.info.shape);
    else
      inputs.push_back(node.info.dtype == DType::float32 ? given->second.to_float32()
                                                         : given->second);
  }
  return inputs;
}

}  // namespace

std::optional<LoadedModel> from_onnx(const ModelRequest& request) {
  if (!onnx::is_onnx(request.model)) return std::nullopt;
  refuse_options(request);
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
  for (const std::string& note : imported.notes) log::warning(request.model + ": " + note);
  LoadedModel loaded;
  loaded.graph = std::move(imported.graph);
  loaded.example = in_order(loaded.graph, options.inputs);
  redefine_custom_ops(loaded.graph, request.custom_ops, request.model);
  return loaded;
}

}  // namespace mase::driver
