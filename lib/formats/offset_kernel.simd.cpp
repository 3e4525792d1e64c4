// SPDX-License-Identifier: Apache-2.0
// Stochastic offsets of runs of elements.
#include "formats/offset_kernel.hpp"

#include <algorithm>

#include "formats/offset_lanes.hpp"

namespace mase::formats::kernels {
namespace {

MASE_SIMD_TARGET void make_offsets(std::uint64_t seed, std::uint64_t first, float* out,
                                   std::size_t count) {
  const OffsetMaker maker(seed);
  const std::size_t whole = count - count % offsets_together;
  maker.make(first, out, whole);
  if (whole == count) return;
  float rest[offsets_together];
  maker.make(first + whole, rest, offsets_together);
  std::copy_n(rest, count - whole, out + whole);
}

}  // namespace

const OffsetKernel MASE_KERNELS_OF(offset_kernel) = make_offsets;

}  // namespace mase::formats::kernels
