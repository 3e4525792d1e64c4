// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits that a graph has as float32 go back to their type.
#pragma once

#include <cstddef>
#include <span>

#include "base/array.hpp"

namespace mase {

/// Whether every number is one of `dtype` (float32, float16 or bfloat16), NaNs included. If so,
/// their bytes in it go to `out`, which has size_of(dtype) for each.
bool narrowed(std::span<const float> numbers, DType dtype, std::byte* out);

}  // namespace mase
