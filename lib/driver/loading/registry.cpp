// SPDX-License-Identifier: Apache-2.0
// Built-in models, for the rows and classes of the data set if there is one.
#include "models/registry.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "driver/loading/sources.hpp"

namespace mase::driver {
namespace {

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

}  // namespace

std::optional<LoadedModel> from_registry(const ModelRequest& request) {
  if (looks_like_path(request.model)) return std::nullopt;
  const models::ModelRow& row = registry_row(request.model);
  LoadedModel loaded;
  const Shape shape = request.dataset ? request.dataset->sample_shape() : row.sample_shape;
  const bool labelled = request.dataset && request.dataset->targets.size() == 1 &&
                        request.dataset->labels().classes() > 0;
  const int classes =
      labelled ? static_cast<int>(request.dataset->labels().classes()) : row.classes;
  loaded.graph = row.build(shape, classes, request.seed);
  take_built_graph(request, "a built-in model", loaded.graph);
  loaded.example = requested_inputs(request, input_names(loaded.graph)).values;
  loaded.untrained = true;
  return loaded;
}

}  // namespace mase::driver
