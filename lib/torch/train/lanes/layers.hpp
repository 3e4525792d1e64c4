// SPDX-License-Identifier: Apache-2.0
// Layers over batches in lanes: tensors [bundles, channels, ..., 16] whose planes are
// plane_stride() apart.
#pragma once

#include <memory>

#include "torch/train/lanes/packing.hpp"
#include "torch/train/layers.hpp"

namespace mase::train {

/// What the layers of a network know about the current batch.
struct LaneBatch {
  std::size_t images = 0;  ///< the last bundle may have lanes without an image
};

/// The sizes of a tensor in lanes.
BatchSizes batch_sizes(const at::Tensor& lanes, std::size_t images);

/// Like fit(), in lanes.
void fit_lanes(at::Tensor& tensor, at::IntArrayRef shape);

/// Makes the layer that converts rows to lanes, or lanes to rows.
std::unique_ptr<Layer> make_layout_change(Layout to, std::shared_ptr<LaneBatch> batch);
/// Like make_quantize(), in lanes.
std::unique_ptr<Layer> make_lane_quantize(PortQuantizer quantizer,
                                          const std::shared_ptr<LaneBatch>& batch);

/// Makes a layer for the mean over all positions of images.
std::unique_ptr<Layer> make_lane_mean(const LayerSource& source);

/// Makes a convolution. It absorbs a LaneTail that follows, so that the gradient between them is
/// used while it is in the cache. Null if the values are not a whole batch of images.
std::unique_ptr<Layer> make_lane_conv2d(const LayerSource& source);

}  // namespace mase::train
