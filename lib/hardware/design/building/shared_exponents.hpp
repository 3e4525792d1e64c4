// SPDX-License-Identifier: Apache-2.0
// Exponents that the operands of a product share.
#pragma once

#include <vector>

#include "hardware/design/step_table.hpp"

namespace mase::design {

/// Beats of elements as words with the exponents of their blocks: a stream of one lane. `inputs`
/// are the elements, and an exponent for each block.
StreamId with_exponents(StepBuilder& builder, const std::vector<StreamId>& inputs);

}  // namespace mase::design
