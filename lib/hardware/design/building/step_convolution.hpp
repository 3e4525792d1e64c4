// SPDX-License-Identifier: Apache-2.0
// Steps of convolutions: windows in front of linear, constant_linear or depthwise.
#pragma once

#include "hardware/design/step_table.hpp"

namespace mase::design {

StepRow convolution_step();
StepRow depthwise_step();  ///< every channel by itself

}  // namespace mase::design
