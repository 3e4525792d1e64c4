// SPDX-License-Identifier: Apache-2.0
// Stochastic offsets of runs of elements.
#include "formats/offset_kernel.hpp"

#include <algorithm>

#include "formats/offset_lanes.hpp"

namespace mase::formats::kernels {
namespace {

/// Prefetches as many elements, of 4 bytes each, as numbers are made.
struct ElementFetch {
  const char *in, *out;

  MASE_SIMD void operator()(std::size_t first) const {
    constexpr std::size_t line = 64;
    for (std::size_t at = 4 * first; at < 4 * (first + offsets_together); at += line) {
      __builtin_prefetch(in + at);
      __builtin_prefetch(out + at, 1);
    }
  }
};

MASE_SIMD_TARGET void make_offsets(std::uint64_t seed, std::uint64_t first, float* out,
                                   std::size_t count, const OffsetElements& elements) {
  const OffsetMaker maker(seed);
  const std::size_t whole = count - count % offsets_together;
  if (elements.in && elements.out)
    maker.make(first, out, whole,
               ElementFetch{static_cast<const char*>(elements.in),
                            static_cast<const char*>(elements.out)});
  else
    maker.make(first, out, whole);
  if (whole == count) return;
  float rest[offsets_together];
  maker.make(first + whole, rest, offsets_together);
  std::copy_n(rest, count - whole, out + whole);
}

}  // namespace

const OffsetKernel MASE_KERNELS_OF(offset_kernel) = make_offsets;

}  // namespace mase::formats::kernels
