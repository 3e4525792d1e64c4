// SPDX-License-Identifier: Apache-2.0
// The steps of matrices.
#include "hardware/design/building/step_convolution.hpp"
#include "hardware/design/modules/linear.hpp"
#include "hardware/design/modules/matmul.hpp"

namespace mase::design {

std::vector<StepRow> matrix_rows() {
  return {LinearModule::step(), convolution_step(), depthwise_step(), MatmulModule::step()};
}

}  // namespace mase::design
