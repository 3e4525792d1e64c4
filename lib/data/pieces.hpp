// SPDX-License-Identifier: Apache-2.0
// Reading all values of an array once, also of one that is larger than memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/array.hpp"
#include "base/crash.hpp"
#include "base/file_map.hpp"

namespace mase::data {

/// Calls see(first, count) for all elements in order, piece by piece, so that those of a mapped
/// file are read from it once and take little memory.
template <class See>
void for_each_piece(const Array& values, See see) {
  constexpr std::int64_t piece_bytes = std::int64_t{16} << 20;
  const auto item = static_cast<std::int64_t>(size_of(values.dtype()));
  const FileMap* const file = values.file();
  const Running running(Running::Kind::reading, file ? file->path().c_str() : "");
  for (std::int64_t first = 0; first < values.size(); first += piece_bytes / item) {
    const std::int64_t count = std::min(piece_bytes / item, values.size() - first);
    if (file) file->check_size();
    see(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    if (file) file->was_read(static_cast<std::size_t>(count * item));
  }
}

}  // namespace mase::data
