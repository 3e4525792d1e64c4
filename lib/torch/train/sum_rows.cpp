// SPDX-License-Identifier: Apache-2.0
// Goes through the columns in blocks that stay in the cache.
#include "torch/train/sum_rows.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace mase::train {
namespace {

template <class T>
void sum_as(const Rows& rows, std::byte* into) {
  constexpr std::size_t block = 2048;
  const std::size_t columns = rows.bytes / sizeof(T);
  for (std::size_t begin = 0; begin < columns; begin += block) {
    const std::size_t count = std::min(block, columns - begin);
    T* __restrict sums = reinterpret_cast<T*>(into) + begin;
    std::memcpy(sums, rows.first + begin * sizeof(T), count * sizeof(T));
    for (std::size_t row = 1; row < rows.count; ++row) {
      const T* __restrict more = reinterpret_cast<const T*>(rows.first + row * rows.stride) + begin;
      for (std::size_t i = 0; i < count; ++i) sums[i] += more[i];
    }
  }
}

}  // namespace

void sum_rows(c10::ScalarType type, const Rows& rows, std::byte* into) {
  MASE_CHECK(type == c10::kFloat || type == c10::kDouble, "sums are of floats or doubles");
  type == c10::kFloat ? sum_as<float>(rows, into) : sum_as<double>(rows, into);
}

}  // namespace mase::train
