// SPDX-License-Identifier: Apache-2.0
// TorchScript files, imported with the example inputs of the request or with guessed ones.
#include <algorithm>

#include "backend/backend.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "driver/loading/guess_input.hpp"
#include "driver/loading/sources.hpp"
#include "ir/train_mode.hpp"

namespace mase::driver {
namespace {

LoadedModel import_file(const ModelRequest& request, ExampleInputs inputs) {
  backend::ImportOptions options;
  options.inputs = std::move(inputs.values);
  options.input_names = std::move(inputs.names);
  options.origins = std::move(inputs.origins);
  options.submodule = request.input.submodule;
  options.leaf_modules = request.input.leaf_modules;
  options.leaf_functions = request.input.leaf_functions;
  options.custom_ops = request.custom_ops;
  options.concrete = fixed_values(request);
  if (request.input.most_operators) options.most_operators = *request.input.most_operators;
  LoadedModel loaded;
  backend::Imported imported = backend::open().import_model(request.model, options);
  loaded.graph = std::move(imported.graph);
  for (const std::string& note : imported.notes) log::warning(request.model + ": " + note);
  for (const std::string& warning : ir::train_mode_warnings(loaded.graph))
    log::warning(request.model + ": " + warning);
  loaded.example = std::move(options.inputs);
  const auto placeholders = loaded.graph.placeholders();
  for (std::size_t i = 0; i < std::min(placeholders.size(), loaded.example.size()); ++i)
    if (loaded.graph.node(placeholders[i]).info.dtype == DType::float32)
      loaded.example[i] = loaded.example[i].to_float32();
  loaded.example.resize(
      std::min(loaded.example.size(), placeholders.size() - imported.state.size()));
  for (Array& value : imported.state) loaded.example.push_back(std::move(value));
  return loaded;
}

/// The names of the model's inputs, followed by those for the state that it keeps between runs.
std::vector<std::string> names_of_inputs(const ModelRequest& request) {
  backend::Signature signature = backend::open().signature(request.model, request.input.submodule);
  signature.inputs.insert(signature.inputs.end(), signature.state.begin(), signature.state.end());
  return signature.inputs;
}

/// Imports a model. Without example inputs, uses the first candidate that works, with a warning.
LoadedModel import_with_guess(const ModelRequest& request) {
  const std::string remedy = "give --input FILE.npy, --input-shape, or a data set";
  const backend::Signature signature =
      backend::open().signature(request.model, request.input.submodule);
  const auto fixed = fixed_values(request);
  for (const auto& [name, type] : signature.other_types)
    if (!fixed.contains(name))
      unsupported_error(request.model + ": " + backend::no_tensor_argument(name, type));
  for (const Shape& shape : candidate_inputs(signature)) {
    try {
      LoadedModel loaded = import_file(request, {{Array(DType::float32, shape)}, {}, {}});
      log::warning("no example input given: the model is traced with zeros of shape " +
                   shape_text(shape) + ", guessed from the weights; for another, " + remedy);
      return loaded;
    } catch (const Error& error) {
      if (error.fault() == Fault::unsupported || error.fault() == Fault::interrupted) throw;
      log::debug("shape " + shape_text(shape) + " does not fit: " + error.what());
    }
  }
  config_error(request.model + " needs example inputs for " + join(signature.inputs, ", ") + "; " +
               remedy);
}

}  // namespace

std::optional<LoadedModel> from_torchscript(const ModelRequest& request) {
  const bool by_name = request.dataset && request.dataset->inputs.size() > 1;
  ExampleInputs inputs = by_name || has_names(request.input)
                             ? requested_inputs(request, names_of_inputs(request))
                             : requested_inputs(request, {});
  return inputs.values.empty() ? import_with_guess(request)
                               : import_file(request, std::move(inputs));
}

}  // namespace mase::driver
