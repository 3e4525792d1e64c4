// SPDX-License-Identifier: Apache-2.0
// Layers over batches in lanes: tensors [bundles, channels, ..., 16] whose planes lie
// plane_stride() apart.
#pragma once

#include <memory>

#include "torch/train/lanes/packing.hpp"
#include "torch/train/layers.hpp"

namespace mase::train {

/// What the layers of a network know of its current batch.
struct LaneBatch {
  std::size_t images = 0;  ///< the last bundle may have lanes without an image
};

/// Sizes of a tensor in lanes.
BatchSizes batch_sizes(const at::Tensor& lanes, std::size_t images);

/// As fit(), in lanes.
void fit_lanes(at::Tensor& tensor, at::IntArrayRef shape);

/// From rows to lanes or back.
std::unique_ptr<Layer> make_layout_change(Layout to, std::shared_ptr<LaneBatch> batch);
/// make_quantize() in lanes.
std::unique_ptr<Layer> make_lane_quantize(PortQuantizer quantizer,
                                          const std::shared_ptr<LaneBatch>& batch);

/// A mean over all places of images.
std::unique_ptr<Layer> make_lane_mean(const LayerSource& source);

/// A convolution and what follows it of a LaneTail, which it absorbs: the gradient between them is
/// used up while it is in the cache. Null for what is no whole batch of images.
std::unique_ptr<Layer> make_lane_conv2d(const LayerSource& source);

}  // namespace mase::train
