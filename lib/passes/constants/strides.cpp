// SPDX-License-Identifier: Apache-2.0
// Dimensions that lie in each other without gaps are one run; a view splits and joins only there.
#include "passes/constants/strides.hpp"

namespace mase::passes {
namespace {

/// Elements of each run of dimensions, from the outermost on; dimensions of 1 are in any.
Shape runs_of(const Shape& shape, const Shape& strides) {
  Shape runs;
  std::int64_t before = 0;  // stride of the dimension around this one
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (!runs.empty() && before == shape[d] * strides[d])
      runs.back() *= shape[d];
    else
      runs.push_back(shape[d]);
    before = strides[d];
  }
  return runs;
}

}  // namespace

Shape dense_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

bool can_view(const Shape& shape, const Shape& strides, const Shape& as) {
  const Shape runs = runs_of(shape, strides);
  auto run = runs.begin();
  std::int64_t covered = 1;
  for (const std::int64_t size : as) {
    if (size == 1) continue;
    covered *= size;
    if (run == runs.end() || *run % covered != 0) return false;
    if (covered < *run) continue;
    ++run;
    covered = 1;
  }
  return run == runs.end();
}

}  // namespace mase::passes
