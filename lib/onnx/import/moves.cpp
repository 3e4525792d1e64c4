// SPDX-License-Identifier: Apache-2.0
// Copies runs of bytes.
#include "onnx/import/moves.hpp"

#include <cstring>

#include "base/error.hpp"

namespace mase::onnx {
namespace {

/// An array as `outer` runs of `size` places of `inner` bytes each, around a dimension.
struct Runs {
  std::size_t outer = 1, size, inner;
  Runs(const Array& array, std::size_t dim) : inner(size_of(array.dtype())) {
    const Shape& shape = array.shape();
    size = static_cast<std::size_t>(shape.at(dim));
    for (std::size_t i = 0; i < dim; ++i) outer *= static_cast<std::size_t>(shape[i]);
    for (std::size_t i = dim + 1; i < shape.size(); ++i)
      inner *= static_cast<std::size_t>(shape[i]);
  }
};

}  // namespace

Array picked_along(const Array& array, std::size_t dim, const std::vector<std::int64_t>& places) {
  const Runs runs(array, dim);
  Shape shape = array.shape();
  shape[dim] = static_cast<std::int64_t>(places.size());
  Array result = Array::uninitialized(array.dtype(), shape);
  std::byte* to = result.mutable_bytes();
  for (std::size_t i = 0; i < runs.outer; ++i)
    for (const std::int64_t place : places) {
      const std::size_t from = (i * runs.size + static_cast<std::size_t>(place)) * runs.inner;
      std::memcpy(to, array.bytes() + from, runs.inner);
      to += runs.inner;
    }
  return result;
}

Array joined(const std::vector<Array>& arrays, std::size_t dim) {
  Shape shape = arrays.at(0).shape();
  shape.at(dim) = 0;
  for (const Array& one : arrays) {
    Shape others = one.shape();
    if (others.size() != shape.size() || one.dtype() != arrays[0].dtype())
      file_error("its operands have other dimensions or types than the first one");
    const std::int64_t size = others[dim];
    others[dim] = shape[dim];
    if (others != shape) file_error("its operands differ in another dimension than its axis");
    shape[dim] += size;
  }
  Array result = Array::uninitialized(arrays[0].dtype(), shape);
  std::byte* to = result.mutable_bytes();
  const std::size_t outer = Runs(arrays[0], dim).outer;
  for (std::size_t i = 0; i < outer; ++i)
    for (const Array& one : arrays) {
      const Runs runs(one, dim);
      const std::size_t bytes = runs.size * runs.inner;
      if (bytes > 0) std::memcpy(to, one.bytes() + i * bytes, bytes);
      to += bytes;
    }
  return result;
}

}  // namespace mase::onnx
