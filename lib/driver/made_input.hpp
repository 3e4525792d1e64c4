// SPDX-License-Identifier: Apache-2.0
// Example inputs that are made on the spot.
#pragma once

#include <cstdint>
#include <string>

#include "base/array.hpp"

namespace mase::driver {

/// An array as `--input-shape` describes it: SHAPE, SHAPE:DTYPE or SHAPE:DTYPE:LOW..HIGH, such as
/// "4,3,32,32" or "2,12:int64:0..30522". Zeros of float32 by default; with a range, numbers drawn
/// evenly from LOW up to but without HIGH, the same for the same seed. Error(Fault::config).
Array made_input(const std::string& text, std::uint64_t seed);

}  // namespace mase::driver
