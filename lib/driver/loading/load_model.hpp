// SPDX-License-Identifier: Apache-2.0
// Loads the model that a user names (a built-in model, a model file or a checkpoint) as a graph.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "data/dataset.hpp"
#include "driver/commands/commands.hpp"
#include "driver/settings.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// Which model to load, and where its input shapes come from.
struct ModelRequest {
  std::string model;  ///< name of a built-in model, or a path
  ModelInput input;
  std::map<std::string, Tree> concrete;
  ir::CustomOps custom_ops;
  data::Dataset* dataset = nullptr;  ///< source of example rows; put into the model's order
  std::int64_t example_rows = 128;
  std::uint64_t seed = 0;
  std::optional<std::string> load_name;
  std::string load_type = "auto";
};

/// A model as a graph, with the facts known about it.
struct LoadedModel {
  ir::Graph graph;
  Tree info;                   ///< metadata of the checkpoint it was loaded from, or null
  std::vector<Array> example;  ///< example inputs; may be empty
  bool measured = false;       ///< the example is data given by the user, not zeros
  bool untrained = false;      ///< a built-in model with random weights
  bool has_shapes = false;     ///< nodes have what they are for this example, without a run
};

/// Loads a model. Error(Fault::file) if there is neither a model nor a readable file of this name,
/// Error(Fault::config) if example inputs are missing or do not fit; also what import throws.
LoadedModel load_model(const ModelRequest& request);

/// Loads the graph of a model. `rows` rows of a data set give the shapes, if there is one.
ir::Graph load_graph(const std::string& model, const ModelInput& input, data::Dataset* dataset,
                     std::int64_t rows);

/// Loads graph and weights of the checkpoint at `path`, and verifies its tensor hash.
LoadedModel load_checkpoint(const std::string& path);

}  // namespace mase::driver
