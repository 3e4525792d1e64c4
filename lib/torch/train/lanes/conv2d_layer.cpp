// SPDX-License-Identifier: Apache-2.0
// The convolution layer over lanes.
#include <ATen/core/Tensor.h>

#include <optional>

#include "torch/train/lanes/convolution.hpp"
#include "torch/train/lanes/tail_layer.hpp"

namespace mase::train {
namespace {

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

class LaneConv2d : public ParameterLayer {
 public:
  explicit LaneConv2d(const LayerSource& source)
      : ParameterLayer(source),
        stride_(source.integers("stride", 1)),
        padding_(source.integers("padding", 0)),
        dilation_(source.integers("dilation", 1)),
        groups_(source.constant("groups") ? source.constant("groups")->as_int() : 1) {}

  Layout layout() const override { return Layout::lanes; }
  bool trains() const override { return own_gradient() || (tail_ && tail_->trains()); }
  void take_addend(const at::Tensor& addend) override { tail_->take_addend(addend); }
  at::Tensor addend_gradient() const override { return tail_->addend_gradient(); }
  bool absorb(const LayerSource& source) override {
    if (tail_) return tail_->absorb(source);
    tail_ = make_lane_tail(source);
    return tail_ != nullptr;
  }

  void begin_step(bool quantized) override {
    ParameterLayer::begin_step(quantized);
    if (tail_) tail_->begin_step(quantized);
    used_ = weight_.used.contiguous();
    if (convolution_) convolution_->set_weight(floats(used_));
  }
  at::Tensor forward(const at::Tensor& input) override {
    prepare(input);
    input_ = input;
    convolution_->forward(floats(input), floats(bias_.used), size(input.size(0)), floats(output_));
    return tail_ ? tail_->forward(output_) : output_;
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    if (tail_) tail_->begin_backward(gradient);
    if (!wanted && !own_gradient()) return {};
    if (wanted) fit_lanes(gradient_, input_.sizes());
    convolution_->backward(
        gradient_source(gradient), floats(input_), size(input_.size(0)),
        {wanted ? floats(gradient_) : nullptr, floats(weight_.gradient), floats(bias_.gradient)});
    finish_gradients();
    return wanted ? gradient_ : at::Tensor();
  }

 private:
  bool own_gradient() const { return ParameterLayer::trains(); }

  Convolution::GradientSource gradient_source(const at::Tensor& gradient) {
    if (!tail_)
      return [this, &gradient](std::size_t first, std::size_t) {
        return floats(gradient) + first * convolution_->out_bundle();
      };
    fit(tail_gradient_,
        {static_cast<std::int64_t>(convolution_->bundles_at_once() * convolution_->out_bundle())});
    return [this](std::size_t first, std::size_t count) {
      tail_->write_gradient(first, count, floats(tail_gradient_));
      return floats(tail_gradient_);
    };
  }

  /// Makes plans for the input's size, which seldom changes.
  void prepare(const at::Tensor& input) {
    const ConvolutionAxis rows = axis(0, input.size(2)), columns = axis(1, input.size(3));
    if (!convolution_ || convolution_->shape().rows.in != rows.in ||
        convolution_->shape().columns.in != columns.in) {
      convolution_.emplace(
          ConvolutionShape{size(input.size(1)), size(used_.size(0)), size(groups_), rows, columns});
      convolution_->set_weight(floats(used_));
    }
    fit_lanes(output_, {input.size(0), used_.size(0), static_cast<std::int64_t>(rows.out),
                        static_cast<std::int64_t>(columns.out), lane_count});
  }
  ConvolutionAxis axis(std::size_t d, std::int64_t in) const {
    const std::int64_t kernel = used_.size(static_cast<std::int64_t>(d) + 2);
    const std::int64_t reach = dilation_[d] * (kernel - 1) + 1;
    const std::int64_t out = (in + 2 * padding_[d] - reach) / stride_[d] + 1;
    return {size(in),         size(out),         size(kernel),
            size(stride_[d]), size(padding_[d]), size(dilation_[d])};
  }

  std::vector<std::int64_t> stride_, padding_, dilation_;
  std::int64_t groups_;
  std::optional<Convolution> convolution_;
  std::unique_ptr<LaneTail> tail_;
  at::Tensor tail_gradient_;  ///< for a few bundles
  at::Tensor used_, input_, output_, gradient_;
};

}  // namespace

std::unique_ptr<Layer> make_lane_conv2d(const LayerSource& source) {
  const bool whole =
      layer_tensor(source, "weight").value.defined() && source.node.info.shape.size() == 4;
  return whole ? std::make_unique<LaneConv2d>(source) : nullptr;
}

}  // namespace mase::train
