// SPDX-License-Identifier: Apache-2.0
// Strips for kernels of stochastic rounding: row by row, with the random numbers of the elements.
#pragma once

#include <vector>

#include "formats/block/block_strip.hpp"
#include "formats/offset_kernel.hpp"

namespace mase::formats {

/// Calls run(row) for every row of a strip as a strip with offsets.
template <class Run>
void for_each_drawn_row(const kernels::Strip& strip, std::uint64_t seed, const Run& run) {
  constexpr std::size_t padding = 16, group = 4;  // a whole vector beyond; as offset_kernel begins
  thread_local std::vector<float> offsets;
  offsets.resize(strip.columns + group + padding);
  constexpr std::size_t here = 0;
  for (std::size_t r = 0; r < strip.row_count; ++r) {
    const std::size_t index = strip.index + strip.rows[r], before = index % group;
    kernels::offset_kernel(simd::best_isa())(seed, index - before, offsets.data(),
                                             strip.columns + before);
    kernels::Strip row = strip;
    row.in += strip.rows[r];
    row.out += strip.rows[r];
    row.rows = &here;
    row.row_count = 1;
    row.offsets = offsets.data() + before;
    run(row);
  }
}

/// What BlockKernel::elements is for a kernel `on_strip(grid, strip, factors)` with offsets.
template <class OnStrip, class Grid>
auto drawn_elements(OnStrip on_strip, const Grid& grid, std::uint64_t seed) {
  return [on_strip, grid, seed](const kernels::Strip& strip, const kernels::TileFactors& factors) {
    for_each_drawn_row(strip, seed,
                       [&](const kernels::Strip& row) { on_strip(grid, row, factors); });
  };
}

}  // namespace mase::formats
