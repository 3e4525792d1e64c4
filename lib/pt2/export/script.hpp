// SPDX-License-Identifier: Apache-2.0
// The TorchScript of number formats (Format::torchscript) as steps of ATen.
#pragma once

#include <string>

#include "pt2/export/steps.hpp"

namespace mase::pt2 {

/// Writes the body of a function of the tensor `x`; returns the node of its result. The text is
/// straight-line code: assignments of calls of torch's functions and methods, arithmetic on tensors
/// and sizes, and a return. Error(Fault::unsupported) that names anything else.
ir::NodeId write_script(Steps& steps, const std::string& text, ir::NodeId x);

}  // namespace mase::pt2
