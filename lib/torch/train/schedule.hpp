// SPDX-License-Identifier: Apache-2.0
// The number of steps of a training run, and the learning rate of each step. These are pure
// functions, so that a resumed run has the same values.
#pragma once

#include <cstdint>

#include "backend/training.hpp"

namespace mase::train {

/// The numbers of batches, steps and epochs of a run.
struct StepCounts {
  std::int64_t batches_per_epoch = 0;
  std::int64_t steps_per_epoch = 0;  ///< optimiser steps: groups of accumulate_grad_batches batches
  std::int64_t steps = 0;            ///< steps of the whole run
  std::int64_t epochs = 0;           ///< the last one may be cut short by max_steps
};

/// A batch here is that of all processes together. `drop_single`: a last batch of a single row is
/// left out (batch norms need two). Error(Fault::config) when no batch is left.
StepCounts count_steps(std::int64_t rows, const backend::TrainOptions& options, bool drop_single);

/// The learning rate of step `step` (from 0). It rises linearly to the peak over the first
/// warmup_share of the steps. Then it is constant (none), is multiplied by gamma every step_size
/// epochs (step), or follows half a cosine down to eta_min over the remaining steps (cosine;
/// Loshchilov and Hutter, ICLR 2017).
double learning_rate(std::int64_t step, const StepCounts& counts,
                     const backend::TrainOptions& options);

/// Whether the graph's formats are applied in step `step` (from 0).
bool is_quantized(std::int64_t step, const backend::TrainOptions& options);

/// Whether the learning rate of a step depends on the number of steps of the run.
bool depends_on_length(const backend::TrainOptions& options);

}  // namespace mase::train
