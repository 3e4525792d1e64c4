// SPDX-License-Identifier: Apache-2.0
// The resumable state of a training run as bytes: counters, best result, optimiser moments, and
// what it belongs to (options, data, weights), so that a wrong resume is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/training.hpp"

namespace mase::train {

/// Where a training stands: all that resuming needs beside the weights.
struct State {
  std::int64_t step = 0;    ///< optimiser steps done
  std::int64_t epoch = 0;   ///< epochs whose validation is done
  std::int64_t waited = 0;  ///< epochs since the best validation loss
  bool has_best = false;
  backend::Metrics best;     ///< best validation so far
  std::string data_hash;     ///< Dataset::sha256
  std::string weights_hash;  ///< of the graph's tensors at this step
  std::vector<std::vector<float>> moments;
  std::vector<float> learned_steps;  ///< logarithms of the learned steps of formats
};

/// Hash over names, dtypes, shapes and values of all tensors.
std::string weights_hash(const ir::Graph& graph);

std::string write_state(const State& state, const backend::TrainOptions& options);

/// Reads a state and checks that it continues this run. Error(Fault::file) when the bytes are
/// damaged or belong to other weights or data, Error(Fault::config) naming every option that
/// changed. Options that do not change the weights (log_every_n_steps, checkpoint_every_n_steps)
/// may differ; so may max_epochs and max_steps when the schedule does not depend on them, and
/// early_stop.
State read_state(const std::string& bytes, const backend::TrainOptions& options,
                 const data::Dataset& data, const ir::Graph& graph);

}  // namespace mase::train
