// SPDX-License-Identifier: Apache-2.0
// The resumable state of a training run as bytes: counters, best result, optimiser moments, and the
// options, data and weights that it belongs to, so that resuming a different run is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/training.hpp"

namespace mase::train {

/// The state of a training run: everything that resuming needs in addition to the weights.
struct State {
  std::int64_t step = 0;    ///< optimiser steps done
  std::int64_t epoch = 0;   ///< validated epochs
  std::int64_t waited = 0;  ///< epochs since the best validation loss
  bool has_best = false;
  data::Figures best;        ///< best validation so far; names and values only, once read
  std::string data_hash;     ///< Dataset::sha256
  std::string weights_hash;  ///< hash of the graph's tensors at this step
  std::vector<std::vector<float>> moments;
  std::vector<float> learned_steps;  ///< logarithms of the learned steps of formats
};

/// The hash of names, dtypes, shapes and values of all tensors.
std::string weights_hash(const ir::Graph& graph);

std::string write_state(const State& state, const backend::TrainOptions& options);

/// Reads a state and checks that it continues this run. Error(Fault::file) if the bytes are damaged
/// or belong to other weights or data; Error(Fault::config) that names every option that has
/// changed. batch_size there is that of all processes together. Options that do not affect the
/// weights (log_every_n_steps, checkpoint_every_n_steps) and early_stop may differ; so may
/// max_epochs and max_steps if the schedule does not depend on them.
State read_state(const std::string& bytes, const backend::TrainOptions& options,
                 const std::string& data_hash, const data::Dataset& data, const ir::Graph& graph);

}  // namespace mase::train
