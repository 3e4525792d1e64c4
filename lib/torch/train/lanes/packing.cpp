// SPDX-License-Identifier: Apache-2.0
// Finds the rows of each plane.
#include "torch/train/lanes/packing.hpp"

#include <algorithm>
#include <vector>

namespace mase::train {

namespace {

/// Calls visit(plane's number, row pointers) for all planes. Lanes without an image have `unused`.
template <class Float, class Visit>
void for_each_plane(Float* rows, const BatchSizes& sizes, Float* unused, Visit&& visit) {
  Float* lane_rows[lane_count];
  for (std::size_t p = 0; p < sizes.planes(); ++p) {
    const std::size_t first = p / sizes.channels * lane_count, channel = p % sizes.channels;
    for (std::size_t lane = 0; lane < lane_count; ++lane)
      lane_rows[lane] = first + lane < sizes.images
                            ? rows + ((first + lane) * sizes.channels + channel) * sizes.positions
                            : unused;
    visit(p, lane_rows);
  }
}

}  // namespace

void rows_to_lanes(const float* in, const BatchSizes& sizes, float* out,
                   const LaneKernels& kernels) {
  const std::vector<float> zeros(sizes.positions);
  for_each_plane(in, sizes, zeros.data(), [&](std::size_t p, const float* const* rows) {
    kernels.pack(rows, sizes.positions, out + p * plane_stride(sizes.positions));
  });
}

void lanes_to_rows(const float* in, const BatchSizes& sizes, float* out,
                   const LaneKernels& kernels) {
  std::vector<float> nowhere(sizes.positions);
  for_each_plane(out, sizes, nowhere.data(), [&](std::size_t p, float* const* rows) {
    kernels.unpack(in + p * plane_stride(sizes.positions), sizes.positions, rows);
  });
}

void clear_unused_lanes(float* values, const BatchSizes& sizes) {
  const std::size_t used = sizes.images % lane_count;
  const std::size_t first = sizes.images / lane_count * sizes.channels;
  for (std::size_t p = first; p < sizes.planes(); ++p)
    for (std::size_t i = 0; i < sizes.positions; ++i) {
      float* const lanes = values + p * plane_stride(sizes.positions) + i * lane_count;
      std::fill(lanes + used, lanes + lane_count, 0.0F);
    }
}

}  // namespace mase::train
