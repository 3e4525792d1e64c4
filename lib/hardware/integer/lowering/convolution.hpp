// SPDX-License-Identifier: Apache-2.0
// Images as the inputs of convolutions.
#pragma once

#include <cstddef>

#include "hardware/integer/lowering/call.hpp"

namespace mase::integer {

/// The input, a frame [channels, size...], for a weight of so many dimensions.
StreamView image_of(const Call& call, const Shape& weight, std::size_t dims);

}  // namespace mase::integer
