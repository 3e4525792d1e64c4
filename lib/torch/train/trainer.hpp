// SPDX-License-Identifier: Apache-2.0
// The trainer fits a graph's parameters to a data set.
#pragma once

#include <c10/core/Device.h>

#include <string>

#include "backend/training.hpp"

namespace mase::train {

/// Trains `graph` in place with cross entropy. Formats on the graph are applied with
/// straight-through gradients. `graph` must have one input and one float output [rows, at least
/// data.labels().classes()].
///
/// With one thread, every run gives the same bits: (seed, epoch) determines the order of rows, and
/// (seed, step) the dropout. `callbacks.save` gets a resumable snapshot after each epoch (with
/// `best` if the validation loss is the lowest so far) and every checkpoint_every_n_steps. A run
/// that resumes from the `state` of a snapshot, with its graph, ends with the same weights as an
/// uninterrupted run. With batch norms, a last batch of a single row is left out, because it has no
/// variance.
///
/// Errors: Fault::config if options, data and model do not fit each other, or have changed since
/// `resume`; Fault::file for a damaged `resume`; Fault::goal, with epoch and step, if the loss is
/// NaN or infinite. Snapshots saved before stay valid.
backend::TrainResult run_training(ir::Graph& graph, const data::Dataset& data,
                                  const backend::TrainOptions& options,
                                  const backend::TrainCallbacks& callbacks,
                                  const std::string& resume, c10::Device device = c10::kCPU);

}  // namespace mase::train
