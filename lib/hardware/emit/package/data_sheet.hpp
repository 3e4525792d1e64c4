// SPDX-License-Identifier: Apache-2.0
// The data sheet of an emitted design, for whoever gets the folder without the program.
#pragma once

#include <string>

#include "hardware/emit/emit.hpp"
#include "hardware/emit/text/names.hpp"

namespace mase::emit {

/// README.md of the folder, in Markdown: ports, formats and orders of the streams, reset, cycles,
/// predicted clock and resources, AXI ports and registers, and every instance with its parameters.
std::string data_sheet(const design::Design& design, const Names& names,
                       const EmitOptions& options);

}  // namespace mase::emit
