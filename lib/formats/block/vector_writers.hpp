// SPDX-License-Identifier: Apache-2.0
// Where kernels put one vector after the other: into memory, or past the caches.
#pragma once

#include "formats/block/block_chunks.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

/// Writes vectors one after the other. Past the caches it does so to any address: an aligned vector
/// is the end of one that was written and the beginning of the next. (Set is Simd: a parameter so
/// that sets without such stores compile. Where to write is asked for every vector: one code for
/// both ways halves that of all kernels, and costs no time.)
template <class Set = Simd>
class VectorWriter {
 public:
  MASE_SIMD VectorWriter(float* to, bool streaming)
      : streaming_(Set::can_stream && streaming),
        start_(to),
        head_((0 - reinterpret_cast<std::uintptr_t>(to)) / sizeof(float) % Set::width),
        to_(streaming_ ? to + head_ - Set::width : to),
        before_(Set::all(0.0F)),
        lanes_(Set::lanes_from(head_)) {}

  MASE_SIMD void write(typename Set::Vec v) {
    if (streaming_)
      stream(v);
    else
      Set::store(to_, v);
    to_ += Set::width;
  }
  MASE_SIMD void finish() {
    if (!streaming_ || to_ < start_) return;
    float last[Set::width];
    Set::store(last, before_);
    std::memcpy(to_, last + head_, (Set::width - head_) * sizeof(float));
  }

 private:
  MASE_SIMD void stream(typename Set::Vec v) {
    if constexpr (Set::can_stream) {
      if (to_ < start_)
        store_part(start_, v, head_);
      else
        Set::stream(to_, Set::joined(before_, v, lanes_));
      before_ = v;
    }
  }

  bool streaming_;
  float* start_;
  std::size_t head_;  ///< elements before the first aligned address
  float* to_;         ///< of the next vector, aligned where streaming
  typename Set::Vec before_;
  typename Set::Bits lanes_;
};

}  // namespace
}  // namespace mase::formats::kernels
