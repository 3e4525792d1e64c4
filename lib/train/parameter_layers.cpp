// The layers with parameters: linear, convolution, batch norm.
#include <ATen/ATen.h>

#include "train/batch_norm.hpp"
#include "train/layers.hpp"
#include "train/planes.hpp"

namespace mase::train {
namespace {

void store(LayerTensor& tensor, const at::Tensor& gradient) {
  if (!tensor.gradient.defined()) return;
  tensor.gradient.copy_(gradient);
  tensor.finish_gradient();
}

/// A layer with weight and bias.
class ParameterLayer : public Layer {
 public:
  explicit ParameterLayer(const LayerSource& source)
      : weight_(layer_tensor(source, "weight")), bias_(layer_tensor(source, "bias")) {}

  bool trains() const override { return weight_.gradient.defined() || bias_.gradient.defined(); }
  void begin_step(bool quantized) override {
    weight_.begin_step(quantized);
    bias_.begin_step(quantized);
  }

 protected:
  LayerTensor weight_, bias_;
};

/// y = x W^T + b: dW = dy^T x, db = sum of dy over rows, dx = dy W.
class Linear : public ParameterLayer {
 public:
  using ParameterLayer::ParameterLayer;

  void begin_step(bool quantized) override {
    ParameterLayer::begin_step(quantized);
    transposed_ = weight_.used.t();
  }
  at::Tensor forward(const at::Tensor& input) override {
    input_ = input;
    fit(output_, {input.size(0), transposed_.size(1)});
    if (bias_.used.defined())
      at::addmm_out(output_, bias_.used, input, transposed_);
    else
      at::mm_out(output_, input, transposed_);
    return output_;
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    if (weight_.gradient.defined()) at::mm_out(weight_.gradient, gradient.t(), input_);
    if (bias_.gradient.defined()) at::sum_out(bias_.gradient, gradient, {0});
    weight_.finish_gradient();
    bias_.finish_gradient();
    if (!wanted) return {};
    fit(gradient_, input_.sizes());
    at::mm_out(gradient_, gradient, weight_.used);
    return gradient_;
  }

 private:
  at::Tensor transposed_, input_, output_, gradient_;
};

class Conv2d : public ParameterLayer {
 public:
  explicit Conv2d(const LayerSource& source)
      : ParameterLayer(source),
        stride_(source.integers("stride", 1)),
        padding_(source.integers("padding", 0)),
        dilation_(source.integers("dilation", 1)),
        groups_(source.constant("groups") ? source.constant("groups")->as_int() : 1),
        bias_shape_{weight_.value.size(0)} {}

  at::Tensor forward(const at::Tensor& input) override {
    input_ = input;
    return at::conv2d(input, weight_.used, bias_.used, stride_, padding_, dilation_, groups_);
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    const auto [input, weight, bias] = at::convolution_backward(
        gradient, input_, weight_.used, at::IntArrayRef(bias_shape_), stride_, padding_, dilation_,
        false, {0, 0}, groups_, {wanted, weight_.gradient.defined(), bias_.gradient.defined()});
    store(weight_, weight);
    store(bias_, bias);
    return input;
  }

 private:
  std::vector<std::int64_t> stride_, padding_, dilation_;
  std::int64_t groups_;
  std::vector<std::int64_t> bias_shape_;
  at::Tensor input_;
};

/// In training mode. [rows, channels], or [images, channels, ...] in planes.
class BatchNorm : public ParameterLayer {
 public:
  explicit BatchNorm(const LayerSource& source)
      : ParameterLayer(source),
        mean_(layer_tensor(source, "running_mean").value),
        variance_(layer_tensor(source, "running_var").value),
        momentum_(static_cast<float>(source.constant("momentum")->as_double())),
        epsilon_(source.constant("eps")->as_double()) {
    const auto batches = source.tensors.find(source.node.target + ".num_batches_tracked");
    if (batches != source.tensors.end()) batches_ = batches->second;
  }

  at::Tensor forward(const at::Tensor& input) override {
    input_ = input.contiguous();
    fit(output_, input.sizes());
    if (input_.dim() == 2)
      batch_norm_forward(floats(input_), size(0), size(1), floats(weight_.used), floats(bias_.used),
                         epsilon_, floats(output_), statistics_);
    else
      batch_norm_forward(floats(input_), planes(), floats(weight_.used), floats(bias_.used),
                         epsilon_, floats(output_), statistics_);
    blend(mean_, statistics_.mean);
    blend(variance_, statistics_.unbiased);
    if (batches_.defined()) ++*batches_.data_ptr<std::int64_t>();
    return output_;
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    if (wanted) fit(gradient_, input_.sizes());
    const at::Tensor from = gradient.contiguous();
    float* into = wanted ? floats(gradient_) : nullptr;
    if (input_.dim() == 2)
      batch_norm_backward(floats(from), floats(input_), size(0), size(1), floats(weight_.used),
                          statistics_, into, floats(weight_.gradient), floats(bias_.gradient));
    else
      batch_norm_backward(floats(from), floats(input_), planes(), floats(weight_.used), statistics_,
                          into, floats(weight_.gradient), floats(bias_.gradient));
    weight_.finish_gradient();
    bias_.finish_gradient();
    return wanted ? gradient_ : at::Tensor();
  }

 private:
  static float* floats(const at::Tensor& tensor) {
    return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
  }
  std::size_t size(int dimension) const { return static_cast<std::size_t>(input_.size(dimension)); }
  Planes planes() const {
    const auto rest = static_cast<std::size_t>(input_.numel()) / (size(0) * size(1));
    return {size(0), size(1), 1, rest};
  }
  void blend(const at::Tensor& running, const std::vector<float>& now) const {
    float* values = floats(running);
    for (std::size_t c = 0; values && c < now.size(); ++c)
      values[c] = momentum_ * now[c] + (1.0f - momentum_) * values[c];
  }

  at::Tensor mean_, variance_, batches_;
  float momentum_;
  double epsilon_;
  at::Tensor input_, output_, gradient_;
  BatchStatistics statistics_;
};

}  // namespace

std::unique_ptr<Layer> make_linear(const LayerSource& source) {
  // Rows of one dimension only: [rows, features] in and out.
  const bool rows =
      layer_tensor(source, "weight").value.defined() && source.node.info.shape.size() == 2;
  return rows ? std::make_unique<Linear>(source) : nullptr;
}

std::unique_ptr<Layer> make_conv2d(const LayerSource& source) {
  const bool whole =
      layer_tensor(source, "weight").value.defined() && source.node.info.shape.size() == 4;
  return whole ? std::make_unique<Conv2d>(source) : nullptr;
}

std::unique_ptr<Layer> make_batch_norm(const LayerSource& source) {
  const bool momentum = source.constant("momentum") && !source.constant("momentum")->is_none();
  if (!source.trains("training") || !momentum || !source.constant("eps")) return nullptr;
  return std::make_unique<BatchNorm>(source);
}

}  // namespace mase::train
