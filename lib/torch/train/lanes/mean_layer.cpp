// SPDX-License-Identifier: Apache-2.0
// The mean over all positions of images, in lanes.
#include <ATen/core/Tensor.h>

#include "torch/train/lanes/layers.hpp"
#include "torch/train/parameter_layer.hpp"

namespace mase::train {
namespace {

/// From [bundles, channels, height, width, 16] to [bundles, channels, 1, 1, 16] or without the 1s.
class LaneMean : public Layer {
 public:
  LaneMean(std::size_t dimensions, std::shared_ptr<LaneBatch> batch)
      : kept_(dimensions), batch_(std::move(batch)), kernels_(lane_kernels(simd::best_isa())) {}

  Layout layout() const override { return Layout::lanes; }
  at::Tensor forward(const at::Tensor& input) override {
    shape_ = input.sizes().vec();
    std::vector<std::int64_t> shape{shape_[0], shape_[1]};
    shape.resize(kept_, 1);
    shape.push_back(lane_count);
    fit_lanes(output_, shape);
    const BatchSizes sizes = batch_sizes(input, batch_->images);
    for (std::size_t p = 0; p < sizes.planes(); ++p) {
      float* const to = floats(output_) + p * plane_stride(1);
      kernels_.sum(floats(input) + p * plane_stride(sizes.positions), sizes.positions, to);
      scale(to, sizes.positions);
    }
    return output_;
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    if (!wanted) return {};
    fit_lanes(gradient_, shape_);
    const BatchSizes sizes = batch_sizes(gradient_, batch_->images);
    for (std::size_t p = 0; p < sizes.planes(); ++p) {
      float share[lane_count];
      std::copy_n(floats(gradient) + p * plane_stride(1), lane_count, share);
      scale(share, sizes.positions);
      float* to = floats(gradient_) + p * plane_stride(sizes.positions);
      for (std::size_t i = 0; i < sizes.positions; ++i) to = std::copy_n(share, lane_count, to);
    }
    return gradient_;
  }

 private:
  static void scale(float* lanes, std::size_t positions) {
    for (std::size_t lane = 0; lane < lane_count; ++lane)
      lanes[lane] /= static_cast<float>(positions);
  }

  std::size_t kept_;
  std::shared_ptr<LaneBatch> batch_;
  const LaneKernels& kernels_;
  std::vector<std::int64_t> shape_;
  at::Tensor output_, gradient_;
};

}  // namespace

std::unique_ptr<Layer> make_lane_mean(const LayerSource& source) {
  return std::make_unique<LaneMean>(source.node.info.shape.size(), source.batch);
}

}  // namespace mase::train
