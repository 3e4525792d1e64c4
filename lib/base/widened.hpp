// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits that a graph has as float32. They are converted when they are read, and can be
// read piece by piece without that the whole array is kept in memory.
#pragma once

#include <cstddef>
#include <span>

#include "base/array.hpp"

namespace mase {

/// The floating-point numbers as a float32 array, which is made when its bytes are asked for. A
/// float32 array is returned itself.
Array widened(const Array& stored);

/// What `widened` was given, if `array` is its result, or a copy, and nothing has asked for the
/// bytes; otherwise the array itself, whose bytes are made then.
Array as_stored(const Array& array);

/// Whether every number is one of `dtype` (float32, float16 or bfloat16), NaNs included. If so,
/// their bytes in it go to `out`, which has size_of(dtype) for each.
bool narrowed(std::span<const float> numbers, DType dtype, std::byte* out);

}  // namespace mase
