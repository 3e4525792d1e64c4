// SPDX-License-Identifier: Apache-2.0
// The version of the program, from the same source as in CMake.
#pragma once

#include <string>

namespace mase::driver {

std::string version();

}  // namespace mase::driver
