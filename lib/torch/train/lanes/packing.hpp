// SPDX-License-Identifier: Apache-2.0
// Converts batches between rows (one image after the other) and lanes (bundles of 16 images).
#pragma once

#include <cstddef>

#include "torch/train/lanes/kernels.hpp"

namespace mase::train {

inline std::size_t bundle_count(std::size_t images) {
  return (images + lane_count - 1) / lane_count;
}

/// The sizes of a batch [images, channels, positions].
struct BatchSizes {
  std::size_t images = 0, channels = 0, positions = 0;

  std::size_t bundles() const { return bundle_count(images); }
  std::size_t planes() const { return bundles() * channels; }
};

/// Converts rows to lanes. Lanes without an image become 0.
void rows_to_lanes(const float* in, const BatchSizes& sizes, float* out,
                   const LaneKernels& kernels = lane_kernels(simd::best_isa()));

/// Converts lanes to rows.
void lanes_to_rows(const float* in, const BatchSizes& sizes, float* out,
                   const LaneKernels& kernels = lane_kernels(simd::best_isa()));

/// Sets the lanes without an image to 0.
void clear_unused_lanes(float* values, const BatchSizes& sizes);

}  // namespace mase::train
