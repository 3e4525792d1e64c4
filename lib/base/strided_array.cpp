// SPDX-License-Identifier: Apache-2.0
// Copies strided elements.
#include "base/strided_array.hpp"

#include <cstring>

#include "base/error.hpp"

namespace mase {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  file_error(what + " reaches beyond its storage");
}

/// The index of the last element in the storage. Sizes are at least 1.
std::int64_t last_element(const StridedLayout& layout, const std::string& what) {
  std::int64_t last = layout.offset;
  for (std::size_t d = 0; d < layout.shape.size(); ++d) {
    std::int64_t step = 0;
    if (layout.strides[d] < 0 ||
        __builtin_mul_overflow(layout.strides[d], layout.shape[d] - 1, &step) ||
        __builtin_add_overflow(last, step, &last))
      refuse(what);
  }
  return last;
}

bool is_contiguous(const StridedLayout& layout) {
  std::int64_t wanted = 1;
  for (std::size_t d = layout.shape.size(); d-- > 0;) {
    if (layout.shape[d] > 1 && layout.strides[d] != wanted) return false;
    wanted *= layout.shape[d];
  }
  return true;
}

/// Goes on to the next place in row-major order and moves `from` along.
void advance(const StridedLayout& layout, Shape& place, std::int64_t& from) {
  for (std::size_t d = place.size(); d-- > 0;) {
    if (++place[d] < layout.shape[d]) {
      from += layout.strides[d];
      return;
    }
    from -= layout.strides[d] * (layout.shape[d] - 1);
    place[d] = 0;
  }
}

}  // namespace

Array gathered(const StridedLayout& layout, std::string_view storage, const std::string& what) {
  if (layout.strides.size() != layout.shape.size() || layout.offset < 0) refuse(what);
  const std::int64_t elements = numel(layout.shape);
  if (elements == 0) return Array(layout.dtype, layout.shape);
  const std::size_t width = size_of(layout.dtype);
  const auto stored = static_cast<std::int64_t>(storage.size() / width);
  if (elements > stored || last_element(layout, what) >= stored) refuse(what);
  Array array = Array::uninitialized(layout.dtype, layout.shape);
  std::byte* out = array.mutable_bytes();
  if (is_contiguous(layout)) {
    std::memcpy(out, storage.data() + static_cast<std::size_t>(layout.offset) * width,
                static_cast<std::size_t>(elements) * width);
    return array;
  }
  Shape place(layout.shape.size(), 0);
  std::int64_t from = layout.offset;
  for (std::int64_t i = 0; i < elements; ++i) {
    std::memcpy(out + static_cast<std::size_t>(i) * width,
                storage.data() + static_cast<std::size_t>(from) * width, width);
    advance(layout, place, from);
  }
  return array;
}

}  // namespace mase
