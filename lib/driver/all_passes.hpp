// SPDX-License-Identifier: Apache-2.0
// The pass table: every pass of the program, in the order `mase list passes` prints them.
#pragma once

#include "passes/pass.hpp"

namespace mase::driver {

const passes::PassTable& all_passes();

}  // namespace mase::driver
