// SPDX-License-Identifier: Apache-2.0
// The formats of ports as operators of ATen.
#pragma once

#include "pt2/export/expand.hpp"

namespace mase::pt2 {

/// Replaces the formats of all ports: a tensor of the model gets its rounded values, and any other
/// value the steps of the format's TorchScript (Format::torchscript). Formats that have no such
/// steps, and ports inside of an operator, go to `losses`.
void expand_formats(Expanded& expanded);

}  // namespace mase::pt2
