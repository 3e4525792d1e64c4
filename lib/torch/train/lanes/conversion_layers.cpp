// SPDX-License-Identifier: Apache-2.0
// The layers that convert rows to lanes and back, and formats between them.
#include <ATen/ops/empty_strided.h>

#include "torch/train/lanes/layers.hpp"

namespace mase::train {
namespace {

/// A tensor in rows and the same tensor in lanes, each in its own buffer.
class Conversion {
 public:
  explicit Conversion(std::shared_ptr<LaneBatch> batch) : batch_(std::move(batch)) {}

  at::Tensor to_lanes(const at::Tensor& rows) {
    const at::Tensor from = rows.contiguous();
    batch_->images = static_cast<std::size_t>(from.size(0));
    std::vector<std::int64_t> shape = from.sizes().vec();
    shape[0] = static_cast<std::int64_t>(bundle_count(batch_->images));
    shape.push_back(lane_count);
    fit_lanes(lanes_, shape);
    rows_to_lanes(from.data_ptr<float>(), batch_sizes(lanes_, batch_->images),
                  lanes_.data_ptr<float>());
    return lanes_;
  }
  at::Tensor to_rows(const at::Tensor& lanes) {
    std::vector<std::int64_t> shape = lanes.sizes().vec();
    shape[0] = static_cast<std::int64_t>(batch_->images);
    shape.pop_back();
    fit(rows_, shape);
    lanes_to_rows(lanes.data_ptr<float>(), batch_sizes(lanes, batch_->images),
                  rows_.data_ptr<float>());
    return rows_;
  }

 private:
  std::shared_ptr<LaneBatch> batch_;
  at::Tensor rows_, lanes_;
};

/// Converts to a layout in the forward pass, and from it in the backward pass.
class LayoutChange : public Layer {
 public:
  LayoutChange(Layout to, std::shared_ptr<LaneBatch> batch)
      : to_(to), conversion_(std::move(batch)) {}

  Layout layout() const override { return to_; }
  at::Tensor forward(const at::Tensor& input) override {
    return to_ == Layout::lanes ? conversion_.to_lanes(input) : conversion_.to_rows(input);
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    if (!wanted) return {};
    return to_ == Layout::lanes ? conversion_.to_rows(gradient) : conversion_.to_lanes(gradient);
  }

 private:
  Layout to_;
  Conversion conversion_;
};

/// Formats work on rows, whose elements they may group and count. Most gradients pass unchanged.
class LaneQuantize : public Layer {
 public:
  LaneQuantize(PortQuantizer quantizer, const std::shared_ptr<LaneBatch>& batch)
      : quantizer_(std::move(quantizer)), values_(batch), gradients_(batch) {}

  Layout layout() const override { return Layout::lanes; }
  bool trains() const override { return quantizer_.learns(); }
  void begin_step(bool quantized) override { quantized_ = quantized; }
  at::Tensor forward(const at::Tensor& input) override {
    return quantized_ ? values_.to_lanes(quantizer_.forward(values_.to_rows(input))) : input;
  }
  at::Tensor backward(const at::Tensor& gradient, bool) override {
    if (!quantized_ || quantizer_.passes_gradient()) return gradient;
    return gradients_.to_lanes(quantizer_.backward(gradients_.to_rows(gradient)));
  }

 private:
  PortQuantizer quantizer_;
  Conversion values_, gradients_;
  bool quantized_ = false;
};

}  // namespace

BatchSizes batch_sizes(const at::Tensor& lanes, std::size_t images) {
  const auto channels = static_cast<std::size_t>(lanes.size(1));
  const auto planes = static_cast<std::size_t>(lanes.size(0)) * channels;
  return {images, channels, static_cast<std::size_t>(lanes.numel()) / (planes * lane_count)};
}

void fit_lanes(at::Tensor& tensor, at::IntArrayRef shape) {
  if (tensor.defined() && tensor.sizes() == shape) return;
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * shape[d + 1];
  const std::int64_t positions = strides[1] / static_cast<std::int64_t>(lane_count);
  strides[1] = static_cast<std::int64_t>(plane_stride(static_cast<std::size_t>(positions)));
  strides[0] = strides[1] * shape[1];
  tensor = at::empty_strided(shape, strides, at::kFloat);
}

std::unique_ptr<Layer> make_layout_change(Layout to, std::shared_ptr<LaneBatch> batch) {
  return std::make_unique<LayoutChange>(to, std::move(batch));
}

std::unique_ptr<Layer> make_lane_quantize(PortQuantizer quantizer,
                                          const std::shared_ptr<LaneBatch>& batch) {
  return std::make_unique<LaneQuantize>(std::move(quantizer), batch);
}

}  // namespace mase::train
