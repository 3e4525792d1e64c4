// SPDX-License-Identifier: Apache-2.0
// The table of sources, and what several of them do with a request.
#include "driver/loading/sources.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.hpp"
#include "base/log.hpp"
#include "driver/custom_ops.hpp"
#include "driver/text_settings.hpp"
#include "models/registry.hpp"
#include "onnx/model.hpp"
#include "pt2/program.hpp"
#include "safetensors/safetensors.hpp"

namespace mase::driver {
namespace {

constexpr std::array source_rows{ModelSource{"registry", from_registry},
                                 ModelSource{"quantized folder", from_quantized_folder},
                                 ModelSource{"Hugging Face folder", from_huggingface},
                                 ModelSource{"onnx", from_onnx},
                                 ModelSource{"exported program", from_exported_program},
                                 ModelSource{"checkpoint", from_checkpoint},
                                 ModelSource{"torchscript", from_torchscript}};

/// The first training rows, in the order of the model's arguments if these are known.
ExampleInputs dataset_rows(data::Dataset& dataset, std::int64_t rows,
                           const std::vector<std::string>& arguments) {
  if (!arguments.empty()) {
    warn_of_lost_types(arguments, dataset);
    dataset.follow(arguments);
  }
  const auto count = std::min<std::int64_t>(rows, static_cast<std::int64_t>(dataset.train.size()));
  ExampleInputs inputs{dataset.batch(dataset.train, 0, count).inputs, {}, {}};
  for (const data::InputColumn& input : dataset.inputs) {
    inputs.origins.push_back("data set " + dataset.name);
    if (dataset.inputs.size() > 1) inputs.names.push_back(input.name);
  }
  return inputs;
}

}  // namespace

std::span<const ModelSource> model_sources() { return source_rows; }

bool may_be_checkpoint(const std::string& path) {
  return std::filesystem::is_regular_file(path) && !onnx::is_onnx(path) &&
         !pt2::is_exported_program(path) && !safetensors::is_safetensors(path) &&
         !safetensors::is_index(path);
}

bool looks_like_path(const std::string& model) {
  const bool is_folder_of_that_name =
      models::find_model(model) && std::filesystem::is_directory(model);
  return model.find('/') != std::string::npos || std::filesystem::path(model).has_extension() ||
         (std::filesystem::exists(model) && !is_folder_of_that_name);
}

ExampleInputs requested_inputs(const ModelRequest& request, const std::vector<std::string>& names) {
  ExampleInputs inputs = example_inputs(request.input, request.seed, names);
  if (inputs.values.empty() && request.dataset)
    return dataset_rows(*request.dataset, request.example_rows, names);
  return inputs;
}

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

std::vector<Array> in_order(const ir::Graph& graph, const std::map<std::string, Array>& examples) {
  std::vector<Array> inputs;
  for (const ir::NodeId id : graph.placeholders()) {
    const ir::Node& node = graph.node(id);
    const auto given = examples.find(node.target);
    const auto beginning = std::ranges::find_if(
        graph.tensors, [&](const auto& entry) { return entry.second.begins == node.target; });
    if (given == examples.end() && beginning != graph.tensors.end())
      inputs.push_back(beginning->second.value);
    else if (given == examples.end())
      inputs.emplace_back(node.info.dtype, node.info.shape);
    else
      inputs.push_back(node.info.dtype == DType::float32 ? given->second.to_float32()
                                                         : given->second);
  }
  return inputs;
}

bool knows_shapes(const LoadedModel& model) {
  const std::vector<ir::NodeId> inputs = model.graph.placeholders();
  if (inputs.size() != model.example.size()) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ir::ValueInfo& info = model.graph.node(inputs[i]).info;
    if (info.dtype != model.example[i].dtype() || info.shape != model.example[i].shape())
      return false;
  }
  return std::ranges::none_of(model.graph.order(), [&](ir::NodeId id) {
    return model.graph.node(id).info.kind == ir::ValueInfo::Kind::unknown;
  });
}

LoadedModel with_examples(const ModelRequest& request, ir::Graph graph,
                          const std::vector<std::string>& notes,
                          const std::map<std::string, Array>& examples) {
  for (const std::string& note : notes) log::warning(request.model + ": " + note);
  LoadedModel loaded;
  loaded.graph = std::move(graph);
  loaded.example = in_order(loaded.graph, examples);
  redefine_custom_ops(loaded.graph, request.custom_ops, request.model);
  return loaded;
}

const char* option_about_modules(const ModelInput& input) {
  if (!input.submodule.empty()) return "--submodule";
  if (!input.leaf_modules.empty()) return "--leaf-module";
  return input.leaf_functions.empty() ? nullptr : "--leaf-function";
}

std::map<std::string, Tree> fixed_values(const ModelRequest& request) {
  std::map<std::string, Tree> fixed = request.concrete;
  for (const auto& [name, value] : fixed_arguments(request.input.fixed))
    fixed.insert_or_assign(name, value);
  return fixed;
}

void refuse_option(const ModelRequest& request, const char* option, const std::string& what) {
  if (option)
    config_error(std::string(option) + ": " + request.model + " is " + what +
                 ", whose graph is already built; use this option with a TorchScript file");
}

void take_built_graph(const ModelRequest& request, const std::string& what, ir::Graph& graph) {
  const char* option = option_about_modules(request.input);
  if (!option && !request.input.fixed.empty()) option = "--fix";
  refuse_option(request, option, what);
  redefine_custom_ops(graph, request.custom_ops, request.model);
}

}  // namespace mase::driver
