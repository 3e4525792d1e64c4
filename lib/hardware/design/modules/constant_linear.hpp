// SPDX-License-Identifier: Apache-2.0
// hw_templates/matrix/mase_constant_linear: its handshake model, and its cost from its weights.
#pragma once

#include <memory>

#include "hardware/design/cost.hpp"
#include "hardware/design/design.hpp"
#include "hardware/design/timing/handshake.hpp"

namespace mase::design {

/// A pipeline whose depth follows from the numbers of inputs and of weight bits.
std::unique_ptr<Handshake> make_constant_linear_handshake(const ModuleParameters& parameters,
                                                          Stages kept);

/// Counts the adders that the weights' bits ask for, equal partial sums of the outputs once.
Cost constant_linear_cost(const Design& design, const Instance& instance);

}  // namespace mase::design
