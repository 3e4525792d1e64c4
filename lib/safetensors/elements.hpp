// SPDX-License-Identifier: Apache-2.0
// How files of safetensors name types of elements.
#pragma once

#include <span>
#include <string_view>

#include "base/array.hpp"

namespace mase::safetensors {

struct ElementRow {
  std::string_view name;
  DType dtype;
};

/// In the order in which the package writes tensors of different types.
std::span<const ElementRow> element_rows();

}  // namespace mase::safetensors
