// SPDX-License-Identifier: Apache-2.0
// Compares strides with those of a tensor whose elements lie one after another.
#include "passes/constants/memory_order.hpp"

#include <algorithm>
#include <numeric>

namespace mase::passes {
namespace {

/// True when each dimension, in this order, steps over all that follow it; `gaps` allows more.
bool steps_over(const Shape& shape, const Shape& strides, const std::vector<std::size_t>& dims,
                bool gaps) {
  std::int64_t behind = 1;
  for (auto d = dims.rbegin(); d != dims.rend(); ++d) {
    if (shape[*d] == 1) continue;
    if (gaps ? strides[*d] < behind : strides[*d] != behind) return false;
    behind = strides[*d] * shape[*d];
  }
  return true;
}

}  // namespace

MemoryOrder memory_order(const Shape& shape, const Shape& strides) {
  std::vector<std::size_t> dims(shape.size());
  std::iota(dims.begin(), dims.end(), std::size_t{0});
  if (numel(shape) == 0 || steps_over(shape, strides, dims, false)) return MemoryOrder::dense;
  if (steps_over(shape, strides, dims, true)) return MemoryOrder::gaps;
  const bool permuted = steps_over(shape, strides, slowest_first(strides), false);
  return permuted ? MemoryOrder::permuted : MemoryOrder::other;
}

std::vector<std::size_t> slowest_first(const Shape& strides) {
  std::vector<std::size_t> dims(strides.size());
  std::iota(dims.begin(), dims.end(), std::size_t{0});
  std::ranges::stable_sort(dims,
                           [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  return dims;
}

}  // namespace mase::passes
