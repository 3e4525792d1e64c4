// The layers that turn rows into lanes and back.
#include <ATen/ATen.h>

#include "train/lanes/layers.hpp"

namespace mase::train {
namespace {

/// A tensor of rows and the same in lanes, each in its buffer.
class Conversion : public Layer {
 public:
  explicit Conversion(std::shared_ptr<LaneBatch> batch) : batch_(std::move(batch)) {}

 protected:
  at::Tensor to_lanes(const at::Tensor& rows) {
    const at::Tensor from = rows.contiguous();
    batch_->images = static_cast<std::size_t>(from.size(0));
    std::vector<std::int64_t> shape = from.sizes().vec();
    shape[0] = (shape[0] + lane_count - 1) / lane_count;
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

class RowsToLanes : public Conversion {
 public:
  using Conversion::Conversion;
  Layout layout() const override { return Layout::lanes; }
  at::Tensor forward(const at::Tensor& input) override { return to_lanes(input); }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    return wanted ? to_rows(gradient) : at::Tensor();
  }
};

class LanesToRows : public Conversion {
 public:
  using Conversion::Conversion;
  at::Tensor forward(const at::Tensor& input) override { return to_rows(input); }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    return wanted ? to_lanes(gradient) : at::Tensor();
  }
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

std::unique_ptr<Layer> make_rows_to_lanes(std::shared_ptr<LaneBatch> batch) {
  return std::make_unique<RowsToLanes>(std::move(batch));
}

std::unique_ptr<Layer> make_lanes_to_rows(std::shared_ptr<LaneBatch> batch) {
  return std::make_unique<LanesToRows>(std::move(batch));
}

}  // namespace mase::train
