// SPDX-License-Identifier: Apache-2.0
// The trainer: fits a graph's parameters to a data set.
#pragma once

#include <string>

#include "backend/training.hpp"

namespace mase::train {

/// Trains `graph` in place with cross entropy; formats on the graph are applied with
/// straight-through gradients. `graph` must have one input and one float output [rows, at least
/// data.classes()].
///
/// One thread gives the same bits in every run: rows are shuffled by (seed, epoch), dropout draws
/// by (seed, step). `callbacks.save` gets a resumable snapshot after each epoch (with `best` when
/// the validation loss is the lowest so far) and every checkpoint_every_n_steps; a run that goes on
/// from `resume`, the `state` of such a snapshot, with the snapshot's graph, ends with the same
/// weights as one that was never stopped. With batch norms a last batch of a single row is left
/// out, because it has no variance.
///
/// Errors: Fault::config for options, data and models that do not fit each other and for a changed
/// resume, Fault::file for a damaged `resume`, Fault::goal naming epoch and step when the loss is
/// NaN or infinite; snapshots saved before stay valid.
backend::TrainResult run_training(ir::Graph& graph, const data::Dataset& data,
                                  const backend::TrainOptions& options,
                                  const backend::TrainCallbacks& callbacks,
                                  const std::string& resume);

}  // namespace mase::train
