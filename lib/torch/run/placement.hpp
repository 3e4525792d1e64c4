// SPDX-License-Identifier: Apache-2.0
// What an operator needs besides its tensors to run on another device than the CPU.
#pragma once

#include <c10/core/Device.h>

#include "torch/run/plan.hpp"

namespace mase::libtorch {

/// Makes a step of an ATen operator run on the device: it makes its tensors there, although a graph
/// names the CPU, where it was made, and has the arguments on the CPU that LibTorch reads there.
void place_on(c10::Device device, PlanStep& step);

}  // namespace mase::libtorch
