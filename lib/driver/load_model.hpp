// SPDX-License-Identifier: Apache-2.0
// From what a user names (a registry name, a model file, a checkpoint) to a graph with weights.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "data/dataset.hpp"
#include "driver/commands.hpp"
#include "driver/settings.hpp"
#include "ir/evaluator.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// Which model to load, and from what its shapes come.
struct ModelRequest {
  std::string model;  ///< registry name or path
  ModelInput input;
  std::map<std::string, Tree> concrete;
  ir::CustomOps custom_ops;
  data::Dataset* dataset = nullptr;  ///< gives example rows and sizes; follows the model's inputs
  std::int64_t example_rows = 128;
  std::uint64_t seed = 0;
  std::optional<std::string> load_name;
  std::string load_type = "auto";
};

/// A model as a graph, with what is known about it.
struct LoadedModel {
  ir::Graph graph;
  Tree info;                   ///< metadata of the checkpoint it came from; null otherwise
  std::vector<Array> example;  ///< example inputs; may be empty
  bool measured = false;       ///< the example is data of the user's, not zeros of some shape
  bool untrained = false;      ///< the random weights of a built-in model
};

/// Error(Fault::file) where no model has this name and no file can be read under it,
/// Error(Fault::config) when example inputs are missing or do not fit, and what import throws.
LoadedModel load_model(const ModelRequest& request);

/// The graph of a model, with shapes from `rows` rows of a data set where one is named.
ir::Graph load_graph(const std::string& model, const ModelInput& input,
                     const std::optional<std::string>& dataset, std::int64_t rows,
                     const data::DataOptions& options = {});

/// The checkpoint at `path`: graph and weights, tensor hash verified.
LoadedModel load_checkpoint(const std::string& path);

/// Writes graph, weights and `info` as one archive, atomically.
void save_checkpoint(const ir::Graph& graph, const std::string& path, const Tree& info);
/// The same with quantized tensors as their codes alone, as far as these say all; the log says how
/// much stays in floats.
void save_codes_alone(const ir::Graph& graph, const std::string& path, const Tree& info);

/// What every checkpoint says of its making: tool and LibTorch versions and the resolved
/// configuration.
Tree checkpoint_info(const std::string& resolved_configuration, const data::Dataset* dataset);

/// Evaluators of every level but rtl, which needs an emitted folder (driver/hardware.hpp).
ir::MakeEvaluator make_evaluator();

}  // namespace mase::driver
