// SPDX-License-Identifier: Apache-2.0
// Loads the model that a user names from the source that knows it, and saves checkpoints.
#include "driver/loading/load_model.hpp"

#include <filesystem>

#include "backend/backend.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "checkpoint/coded_tensors.hpp"
#include "driver/custom_ops.hpp"
#include "driver/loading/initial_state.hpp"
#include "driver/loading/sources.hpp"
#include "driver/project.hpp"
#include "driver/version.hpp"
#include "hardware/integer/interpreter.hpp"

namespace mase::driver {

ir::Graph load_graph(const std::string& model, const ModelInput& input, data::Dataset* dataset,
                     std::int64_t rows) {
  ModelRequest wanted;
  wanted.model = model;
  wanted.input = input;
  wanted.dataset = dataset;
  wanted.example_rows = rows;
  return load_model(wanted).graph;
}

namespace {

/// Adds the ops of --custom-ops, which override those of a configuration.
ModelRequest with_custom_ops(ModelRequest request) {
  for (const std::string& path : request.input.custom_ops)
    for (const auto& [name, op] : read_custom_op_file(path))
      request.custom_ops.insert_or_assign(name, op);
  return request;
}

/// What the first source that knows the model makes of it.
LoadedModel from_source(const ModelRequest& request) {
  if (looks_like_path(request.model) && !std::filesystem::exists(request.model))
    file_error(request.model + ": no such file");
  for (const ModelSource& source : model_sources())
    if (auto loaded = source.load(request)) return std::move(*loaded);
  MASE_CHECK(false, "the last source takes every file");
}

/// What is the same for every source: weights of --load, the order of the data, the number of
/// inputs.
LoadedModel finish(const ModelRequest& request, LoadedModel loaded) {
  apply_load(request, loaded);
  if (request.dataset)
    request.dataset->follow(input_names(loaded.graph), initial_state(loaded.graph));
  loaded.measured =
      !request.input.inputs.empty() || (request.dataset && request.input.input_shapes.empty());
  const std::size_t wanted = loaded.graph.placeholders().size();
  if (!loaded.example.empty() && loaded.example.size() != wanted)
    config_error("the model takes " + std::to_string(wanted) + " inputs, but " +
                 std::to_string(loaded.example.size()) + " were given");
  return loaded;
}

}  // namespace

LoadedModel load_model(const ModelRequest& given) {
  ModelRequest request = with_custom_ops(given);
  request.model = model_file(request.model);
  return finish(request, from_source(request));
}

void save_checkpoint(const ir::Graph& graph, const std::string& path, const Tree& info) {
  backend::open().export_model(graph, path, checkpoint::extra_files(graph, info));
}

namespace {

/// "50 tensors with 86400 elements": the tensors that are stored as codes, or those that are not.
std::string amount(const ir::Graph& graph, bool coded) {
  std::int64_t tensors = 0, elements = 0;
  for (const auto& [path, tensor] : graph.tensors) {
    if (bool(tensor.coded) != coded) continue;
    ++tensors;
    elements += tensor.value.size();
  }
  return std::to_string(tensors) + " tensors with " + std::to_string(elements) + " elements";
}

}  // namespace

void save_codes_alone(const ir::Graph& graph, const std::string& path, const Tree& info) {
  const ir::Graph coded = checkpoint::with_codes_alone(graph);
  log::info(path + ": " + amount(coded, true) + " stored as codes only, " + amount(coded, false) +
            " stored as values");
  save_checkpoint(coded, path, info);
}

Tree checkpoint_info(const std::string& resolved_configuration, const data::Dataset* dataset) {
  Tree info = Tree::dict();
  info["mase_version"] = version();
  info["libtorch_version"] = backend::open().info().at("version");
  if (!resolved_configuration.empty()) info["configuration"] = resolved_configuration;
  if (dataset) {
    info["dataset"]["name"] = dataset->name;
    info["dataset"]["sha256"] = dataset->sha256;
  }
  return info;
}

ir::MakeEvaluator make_evaluator() {
  return [](const ir::Graph& graph, ir::Level level) {
    return level == ir::Level::integer ? integer::make_evaluator(graph)
                                       : backend::open().evaluator(graph, level);
  };
}

}  // namespace mase::driver
