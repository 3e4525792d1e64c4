// SPDX-License-Identifier: Apache-2.0
// Dimensions of tensors and items of lists that count from the end where they are negative.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace mase {

/// The place of `index` among `count`, counted from the front: -1 is the last one. Nothing where
/// there is none.
inline std::optional<std::size_t> from_front(std::int64_t index, std::size_t count) {
  const auto size = static_cast<std::int64_t>(count);
  if (index < -size || index >= size) return std::nullopt;
  return static_cast<std::size_t>(index < 0 ? index + size : index);
}

}  // namespace mase
