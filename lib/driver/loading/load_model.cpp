// SPDX-License-Identifier: Apache-2.0
// Loads the model that a user names from the source that knows it.
#include "driver/loading/load_model.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "driver/custom_ops.hpp"
#include "driver/loading/initial_state.hpp"
#include "driver/loading/sources.hpp"
#include "driver/loading/text_input.hpp"
#include "driver/project.hpp"
#include "driver/text_settings.hpp"

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

/// The number of tokens that the rows of the request have.
std::optional<std::int64_t> width_of_rows(const ModelRequest& request) {
  if (!request.dataset) return std::nullopt;
  const data::InputColumn& first = request.dataset->inputs.front();
  return first.tokens ? std::optional(first.values.shape().back()) : std::nullopt;
}

/// The number of tokens of an example row that the source chooses itself.
std::optional<std::int64_t> width_of_source(ModelRequest request) {
  request.dataset = nullptr;
  request.input.texts.clear();
  try {
    const ir::Graph graph = from_source(request).graph;
    const std::vector<ir::NodeId> inputs = graph.placeholders();
    if (inputs.empty() || graph.node(inputs.front()).info.shape.size() != 2) return std::nullopt;
    return graph.node(inputs.front()).info.shape[1];
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;
    return std::nullopt;
  }
}

/// As from_source. The error for rows of texts that a file does not take names the setting that
/// gives them the length of the file.
LoadedModel from_source_of_texts(const ModelRequest& request) {
  try {
    return from_source(request);
  } catch (const Error& error) {
    const auto width = width_of_rows(request);
    if (error.fault() != Fault::config || !width) throw;
    const auto wanted = width_of_source(request);
    if (!wanted || *wanted == *width) throw;
    config_error(std::string(error.what()) + "; or give the texts rows of " +
                 std::to_string(*wanted) + " tokens (--max-token-len " + std::to_string(*wanted) +
                 ")");
  }
}

/// Error(Fault::config) for sentences as example of a model that takes other numbers than ids.
void require_ids_of_texts(const std::string& model, const ir::Graph& graph) {
  const std::vector<ir::NodeId> inputs = graph.placeholders();
  if (inputs.empty()) return;
  const ir::Node& first = graph.node(inputs.front());
  if (first.info.is_tensor() && first.info.dtype == DType::float32)
    config_error("--text is for models of tokens, but the input '" + first.target + "' of " +
                 model + " is float32; give --input or --input-shape");
}

/// What is the same for every source: weights of --load, the order of the data, the number of
/// inputs.
LoadedModel finish(const ModelRequest& request, LoadedModel loaded) {
  apply_load(request, loaded);
  if (request.dataset) {
    warn_of_lost_types(input_names(loaded.graph), *request.dataset);
    request.dataset->follow(input_names(loaded.graph), initial_state(loaded.graph));
    require_embedded(loaded.graph, *request.dataset);
  }
  loaded.measured =
      !request.input.inputs.empty() || (request.dataset && request.input.input_shapes.empty());
  const std::size_t wanted = loaded.graph.placeholders().size();
  if (!loaded.example.empty() && loaded.example.size() != wanted)
    config_error("the model takes " + std::to_string(wanted) + " inputs, but " +
                 std::to_string(loaded.example.size()) + " were given");
  return loaded;
}

/// With the texts of the request as example. They are padded to the length that the model is fixed
/// to, if there is one and the user gives no other.
LoadedModel load_with_texts(ModelRequest request) {
  if (request.dataset)
    config_error("--text and the data set " + request.dataset->name +
                 " both give example inputs; leave one out");
  if (!request.input.tokenizer) request.input.tokenizer = remembered_tokenizer(request.model);
  data::Dataset texts = text_rows(request.model, request.input);
  const std::int64_t width = texts.inputs.front().values.shape().back();
  request.dataset = &texts;
  request.example_rows = texts.row_count();
  LoadedModel loaded = finish(request, from_source_of_texts(request));
  require_ids_of_texts(request.model, loaded.graph);
  const std::optional<int> fixed = fixed_tokens(loaded.graph);
  if (!fixed || *fixed == width || request.input.max_token_len) return loaded;
  request.dataset = nullptr;
  request.input.max_token_len = fixed;
  return load_with_texts(std::move(request));
}

}  // namespace

LoadedModel load_model(const ModelRequest& given) {
  ModelRequest request = with_custom_ops(given);
  request.model = model_file(request.model);
  return request.input.texts.empty() ? finish(request, from_source_of_texts(request))
                                     : load_with_texts(std::move(request));
}

}  // namespace mase::driver
