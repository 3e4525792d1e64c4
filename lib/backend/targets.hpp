// SPDX-License-Identifier: Apache-2.0
// The targets of training and testing, with the losses that the settings choose.
#pragma once

#include <string>
#include <vector>

#include "backend/training.hpp"
#include "data/dataset.hpp"

namespace mase::backend {

/// The targets of a set with the losses, class weights and so on of these options, whatever they
/// had before. An output's own loss wins. Error(Fault::config) if the task of a target does not
/// have the loss.
std::vector<data::Target> training_targets(const data::Dataset& data, const TrainOptions& options);

/// Targets of the task distillation, without values, for results of these names.
std::vector<data::Target> teacher_targets(const std::vector<std::string>& results,
                                          const TrainOptions& options);

}  // namespace mase::backend
