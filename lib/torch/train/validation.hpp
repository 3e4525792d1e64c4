// SPDX-License-Identifier: Apache-2.0
// The figures of the validation rows during training.
#pragma once

#include <cstdint>

#include "data/scorer.hpp"
#include "torch/train/objective.hpp"
#include "torch/train/processes.hpp"

namespace mase::train {

/// Runs the validation rows of a data set after `step` steps, with the formats of the graph if it
/// is `quantized`. All processes get the same figures.
data::Figures validate(const data::Dataset& data, libtorch::Executor& executor, bool quantized,
                       Objective& objective, Batches& batches, Processes& processes,
                       std::int64_t step);

}  // namespace mase::train
