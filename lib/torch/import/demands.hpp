// SPDX-License-Identifier: Apache-2.0
// Explains what operators require of a model's inputs, in terms of what a user can change.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace mase::libtorch {

/// The demand of operator `op` that its arguments do not meet, such as "takes 16 features in the
/// last dimension, given [2, 7]"; empty if it is not known.
std::string unmet_demand(const std::string& op, const std::vector<c10::IValue>& arguments);

}  // namespace mase::libtorch
