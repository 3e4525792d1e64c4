// SPDX-License-Identifier: Apache-2.0
// Decides what a model name refers to and loads it. Only files of others need LibTorch.
#include "driver/loading/load_model.hpp"

#include <algorithm>
#include <filesystem>

#include "backend/backend.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "checkpoint/archive.hpp"
#include "checkpoint/coded_tensors.hpp"
#include "driver/custom_ops.hpp"
#include "driver/loading/guess_input.hpp"
#include "driver/loading/initial_state.hpp"
#include "driver/loading/model_input.hpp"
#include "driver/project.hpp"
#include "driver/version.hpp"
#include "hardware/integer/interpreter.hpp"
#include "ir/allowed_operators.hpp"
#include "ir/text.hpp"
#include "ir/train_mode.hpp"
#include "models/registry.hpp"

namespace mase::driver {
namespace {

bool looks_like_path(const std::string& model) {
  const bool is_folder_of_that_name =
      models::find_model(model) && std::filesystem::is_directory(model);
  return model.find('/') != std::string::npos || std::filesystem::path(model).has_extension() ||
         (std::filesystem::exists(model) && !is_folder_of_that_name);
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const models::ModelRow& row : models::model_table()) names.push_back(row.name);
  return names;
}

const models::ModelRow& registry_row(const std::string& name) {
  if (const models::ModelRow* row = models::find_model(name)) return *row;
  config_error("unknown model '" + name + "'" + did_you_mean(name, model_names(), ".") +
               " Built-in models: " + join(model_names(), ", ") +
               "; or give the path of a model file");
}

/// The first training rows, in the order of the model's arguments if these are known.
ExampleInputs dataset_rows(data::Dataset& dataset, std::int64_t rows,
                           const std::vector<std::string>& arguments) {
  if (!arguments.empty()) dataset.follow(arguments);
  const auto count = std::min<std::int64_t>(rows, static_cast<std::int64_t>(dataset.train.size()));
  ExampleInputs inputs{dataset.batch(dataset.train, 0, count).inputs, {}, {}};
  for (const data::InputColumn& input : dataset.inputs) {
    inputs.origins.push_back("data set " + dataset.name);
    if (dataset.inputs.size() > 1) inputs.names.push_back(input.name);
  }
  return inputs;
}

/// The example inputs that the request names, or none. `names` are the model's arguments or inputs;
/// inputs that are given by name are put into this order.
ExampleInputs requested_inputs(const ModelRequest& request, const std::vector<std::string>& names) {
  ExampleInputs inputs = example_inputs(request.input, request.seed, names);
  if (inputs.values.empty() && request.dataset)
    return dataset_rows(*request.dataset, request.example_rows, names);
  return inputs;
}

/// Refuses import options for a model whose graph already exists.
void refuse_import_options(const ModelRequest& request, const std::string& what) {
  const ModelInput& input = request.input;
  const char* option = !input.submodule.empty()        ? "--submodule"
                       : !input.leaf_modules.empty()   ? "--leaf-module"
                       : !input.leaf_functions.empty() ? "--leaf-function"
                       : !input.fixed.empty()          ? "--fix"
                                                       : nullptr;
  if (option)
    config_error(std::string(option) + ": " + request.model + " is " + what +
                 ", whose graph is already built; use this option with a TorchScript file");
}

LoadedModel from_registry(const ModelRequest& request) {
  const models::ModelRow& row = registry_row(request.model);
  LoadedModel loaded;
  const Shape shape = request.dataset ? request.dataset->sample_shape() : row.sample_shape;
  const bool labelled = request.dataset && request.dataset->targets.size() == 1 &&
                        request.dataset->labels().classes() > 0;
  const int classes =
      labelled ? static_cast<int>(request.dataset->labels().classes()) : row.classes;
  loaded.graph = row.build(shape, classes, request.seed);
  refuse_import_options(request, "a built-in model");
  redefine_custom_ops(loaded.graph, request.custom_ops, request.model);
  loaded.example = requested_inputs(request, input_names(loaded.graph)).values;
  loaded.untrained = true;
  return loaded;
}

[[noreturn]] void no_checkpoint(const std::string& path) {
  file_error(path +
             " is a TorchScript model, but not a checkpoint of mase; `mase init` writes a "
             "configuration that quantizes it, and `mase transform` makes a checkpoint with it");
}

/// The graph of the checkpoint, with its weights.
LoadedModel with_weights(checkpoint::Contents contents) {
  ir::require_allowed(contents.graph, contents.archive.origin());
  LoadedModel loaded{std::move(contents.graph), std::move(contents.info), {}, false};
  checkpoint::load_tensors(contents.archive, loaded.graph);
  return loaded;
}

/// The arguments fixed by the configuration and by the command line.
std::map<std::string, Tree> fixed_values(const ModelRequest& request) {
  std::map<std::string, Tree> fixed = request.concrete;
  for (const auto& [name, value] : fixed_arguments(request.input.fixed))
    fixed.insert_or_assign(name, value);
  return fixed;
}

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

LoadedModel from_file(const ModelRequest& request) {
  if (!std::filesystem::exists(request.model)) file_error(request.model + ": no such file");
  if (auto contents = checkpoint::read_contents(request.model)) {
    LoadedModel loaded = with_weights(std::move(*contents));
    refuse_import_options(request, "a checkpoint");
    redefine_custom_ops(loaded.graph, request.custom_ops, request.model);
    loaded.example =
        with_initial_state(loaded.graph, requested_inputs(request, input_names(loaded.graph)));
    return loaded;
  }
  const bool by_name = request.dataset && request.dataset->inputs.size() > 1;
  ExampleInputs inputs = by_name || has_names(request.input)
                             ? requested_inputs(request, names_of_inputs(request))
                             : requested_inputs(request, {});
  return inputs.values.empty() ? import_with_guess(request)
                               : import_file(request, std::move(inputs));
}

/// The contents of the file to load; nothing if it has weights but no graph of a mase checkpoint.
std::optional<checkpoint::Contents> contents_to_load(const ModelRequest& request) {
  const std::string& path = *request.load_name;
  if (request.load_type == "pt" || request.load_type == "pl") return std::nullopt;
  const bool is_model = request.load_type == "mz" ||
                        checkpoint::open_tensors(path).kind == checkpoint::ArchiveKind::torchscript;
  auto contents = is_model ? checkpoint::read_contents(path) : std::nullopt;
  if (!contents && request.load_type == "mz") no_checkpoint(path);
  return contents;
}

/// The type and shape of a value. The number of rows is left out, since it comes from an example.
std::string row_text(const ir::ValueInfo& info) {
  ir::ValueInfo row = info;
  if (row.is_tensor() && !row.shape.empty()) row.shape.front() = 0;
  return replace_all(ir::print(row), "[0", "[rows");
}

/// "x float32[rows, 16] -> float32[rows, 5]".
std::string interface_text(const ir::Graph& graph) {
  std::vector<std::string> inputs;
  for (const ir::NodeId id : graph.placeholders())
    inputs.push_back(graph.node(id).target + " " + row_text(graph.node(id).info));
  return join(inputs, ", ") + " -> " + row_text(graph.node(graph.output()).info);
}

std::string tensor_text(const ir::Tensor& tensor) {
  return std::string(dtype_name(tensor.value.dtype())) + shape_text(tensor.value.shape());
}

/// A line per tensor that only one graph has, or that has different shapes in the two graphs.
std::vector<std::string> tensor_differences(const ir::Graph& model, const ir::Graph& stored) {
  std::vector<std::string> lines;
  for (const auto& [path, tensor] : model.tensors) {
    const auto other = stored.tensors.find(path);
    if (other == stored.tensors.end())
      lines.push_back("missing in the file: " + path + " " + tensor_text(tensor));
    else if (tensor_text(other->second) != tensor_text(tensor))
      lines.push_back("different: " + path + " is " + tensor_text(other->second) +
                      " in the file and " + tensor_text(tensor) + " in the model");
  }
  for (const auto& [path, tensor] : stored.tensors)
    if (!model.tensors.contains(path))
      lines.push_back("not in the model: " + path + " " + tensor_text(tensor));
  return lines;
}

/// The differences that show that a checkpoint was made from another model. Passes and trials of a
/// search fold, resize and replace tensors. So only name, inputs and results are compared for a
/// transformed checkpoint, and for one that is loaded with load_type "mz".
std::vector<std::string> model_differences(const ir::Graph& model, const ir::Graph& stored,
                                           bool as_it_is) {
  std::vector<std::string> lines;
  const bool transformed = as_it_is || stored.history.size() > 0 || model.history.size() > 0;
  if (transformed && stored.name != model.name)
    lines.push_back("it was made from '" + stored.name + "'");
  const std::string here = interface_text(model), there = interface_text(stored);
  if (here != there) lines.push_back("it computes " + there + ", but the model " + here);
  if (!transformed) {
    const auto tensors = tensor_differences(model, stored);
    lines.insert(lines.end(), tensors.begin(), tensors.end());
  }
  return lines;
}

/// Error(Fault::config) if the checkpoint was not made from this model.
void require_same_model(const ModelRequest& request, const ir::Graph& model,
                        const ir::Graph& stored) {
  std::vector<std::string> lines = model_differences(model, stored, request.load_type == "mz");
  if (lines.empty()) return;
  constexpr std::size_t most = 8;
  if (lines.size() > most) {
    lines.insert(lines.begin() + most, std::to_string(lines.size() - most) + " more differences");
    lines.resize(most + 1);
  }
  config_error(
      "--load " + *request.load_name + " is a checkpoint of another model than '" + request.model +
      "':\n  " + join(lines, "\n  ") +
      "\nName the model it belongs to, or give the checkpoint itself as the model, without "
      "--load");
}

/// Starts from a file: a mase checkpoint replaces the graph, other files give weights only.
void apply_load(const ModelRequest& request, LoadedModel& loaded) {
  if (!request.load_name) return;
  const std::string& path = *request.load_name;
  if (!std::filesystem::exists(path)) file_error(path + ": no such file (--load)");
  auto contents = contents_to_load(request);
  loaded.untrained = false;
  if (!contents) {
    backend::open().load_state_dict(path, loaded.graph);
    return;
  }
  LoadedModel stored = with_weights(std::move(*contents));
  require_same_model(request, loaded.graph, stored.graph);
  loaded.graph = std::move(stored.graph);
  loaded.info = std::move(stored.info);
}

}  // namespace

ir::Graph load_graph(const std::string& model, const ModelInput& input, data::Dataset* dataset,
                     std::int64_t rows) {
  ModelRequest wanted;
  wanted.model = model;
  wanted.input = input;
  wanted.dataset = dataset;
  wanted.example_rows = rows;
  return load_model(wanted).graph;
}

LoadedModel load_checkpoint(const std::string& path) {
  auto contents = checkpoint::read_contents(path);
  if (!contents) no_checkpoint(path);
  return with_weights(std::move(*contents));
}

namespace {

/// Adds the ops of --custom-ops, which override those of a configuration.
ModelRequest with_custom_ops(ModelRequest request) {
  for (const std::string& path : request.input.custom_ops)
    for (const auto& [name, op] : read_custom_op_file(path))
      request.custom_ops.insert_or_assign(name, op);
  return request;
}

}  // namespace

LoadedModel load_model(const ModelRequest& given) {
  ModelRequest request = with_custom_ops(given);
  request.model = model_file(request.model);
  LoadedModel loaded = looks_like_path(request.model) ? from_file(request) : from_registry(request);
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
