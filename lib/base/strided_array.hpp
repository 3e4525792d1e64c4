// SPDX-License-Identifier: Apache-2.0
// Arrays from memory in which the elements lie at strides, as PyTorch stores tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/array.hpp"

namespace mase {

/// How a tensor's elements lie in its storage; strides and offset in elements.
struct StridedLayout {
  DType dtype = DType::float32;
  Shape shape, strides;
  std::int64_t offset = 0;
};

/// Copies the tensor out of its storage, in row-major order. Error(Fault::file) that begins with
/// `what` if an element lies outside of the storage, or if there are more elements than it has.
Array gathered(const StridedLayout& layout, std::string_view storage, const std::string& what);

}  // namespace mase
