// SPDX-License-Identifier: Apache-2.0
// Generates example inputs from a description of their shape.
#pragma once

#include <cstdint>
#include <string>

#include "base/array.hpp"

namespace mase::driver {

/// Makes the array that `--input-shape` describes as SHAPE, SHAPE:DTYPE or SHAPE:DTYPE:LOW..HIGH,
/// such as "4,3,32,32" or "2,12:int64:0..30522". The default is zeros of type float32. With a range
/// the numbers are uniform in [LOW, HIGH) and depend on the seed only. Error(Fault::config).
Array made_input(const std::string& text, std::uint64_t seed);

}  // namespace mase::driver
