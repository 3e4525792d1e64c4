// Costs of the matrix modules on xc7, from their structure: adder bits, memories, DSP blocks.
#pragma once

#include "hardware/design/design.hpp"

namespace mase::design {

Cost linear_cost(const Design& design, const Instance& instance);
Cost depthwise_cost(const Design& design, const Instance& instance);
/// Counts the adders that the weights' bits ask for, equal partial sums of the outputs once.
Cost constant_linear_cost(const Design& design, const Instance& instance);

}  // namespace mase::design
