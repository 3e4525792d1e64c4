// SPDX-License-Identifier: Apache-2.0
// Writers to which kernels give one vector after another: with plain stores, or past the caches.
#pragma once

#include <cstring>

#include "formats/block/block_chunks.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

/// The number of elements from an address to the next address that is aligned for a vector.
MASE_SIMD std::size_t elements_to_aligned(const float* to) {
  return (0 - reinterpret_cast<std::uintptr_t>(to)) / sizeof(float) % Simd::width;
}

/// Writes vectors one after the other.
class VectorWriter {
 public:
  MASE_SIMD explicit VectorWriter(float* to) : to_(to) {}
  MASE_SIMD void write(Simd::Vec v) {
    Simd::store(to_, v);
    to_ += Simd::width;
  }
  MASE_SIMD void finish() {}

 private:
  float* to_;
};

/// The same with stores that bypass the caches, to any address: an aligned vector is the end of one
/// given vector and the beginning of the next. (Set is Simd; it is a parameter so that sets without
/// such stores compile.)
template <class Set>
class StreamWriter {
 public:
  MASE_SIMD explicit StreamWriter(float* to)
      : start_(to),
        head_((0 - reinterpret_cast<std::uintptr_t>(to)) / sizeof(float) % Set::width),
        to_(to + head_ - Set::width),
        before_(Set::all(0.0F)),
        lanes_(Set::lanes_from(head_)) {}

  MASE_SIMD void write(typename Set::Vec v) {
    if (to_ < start_)
      store_part(start_, v, head_);
    else
      Set::stream(to_, Set::joined(before_, v, lanes_));
    to_ += Set::width;
    before_ = v;
  }
  MASE_SIMD void finish() {
    if (to_ < start_) return;
    float last[Set::width];
    Set::store(last, before_);
    std::memcpy(to_, last + head_, (Set::width - head_) * sizeof(float));
  }

 private:
  float* start_;
  std::size_t head_;  ///< elements before the first aligned address
  float* to_;         ///< address of the next aligned vector
  typename Set::Vec before_;
  typename Set::Bits lanes_;
};

}  // namespace
}  // namespace mase::formats::kernels
