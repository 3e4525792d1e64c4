// SPDX-License-Identifier: Apache-2.0
// MASE_VERSION is the project's version from the top-level CMakeLists.txt.
#include "driver/version.hpp"

namespace mase::driver {

std::string version() { return MASE_VERSION; }

}  // namespace mase::driver
