// SPDX-License-Identifier: Apache-2.0
// Scripts of an emitted folder for tools other than Vivado.
#pragma once

#include "hardware/emit/emit.hpp"

namespace mase::emit {

/// quartus/build.tcl, radiant/build.tcl, and the boundary of registers that the latter and
/// `make place` put around the top.
Files tool_scripts(const design::Design& design, const EmitOptions& options);

}  // namespace mase::emit
