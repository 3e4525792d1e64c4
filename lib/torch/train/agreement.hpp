// SPDX-License-Identifier: Apache-2.0
// Processes that train together must have the same model, data and settings.
#pragma once

#include <string>

#include "backend/training.hpp"
#include "ir/graph.hpp"
#include "torch/train/process_group.hpp"

namespace mase::train {

/// Error(Fault::config) in every process, with the first rank that has another model, data set,
/// setting or state to resume than rank 0. `data` and `resume` are hashes.
void check_agreement(ProcessGroup& group, const ir::Graph& graph, const std::string& data,
                     const std::string& resume, const backend::TrainOptions& options);

}  // namespace mase::train
