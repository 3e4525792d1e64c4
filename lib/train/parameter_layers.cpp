// The layers with parameters: linear, convolution, batch norm.
#include <ATen/ATen.h>

#include "train/batch_norm.hpp"
#include "train/layers.hpp"

namespace mase::train {
namespace {

void store(const LayerTensor& tensor, const at::Tensor& gradient) {
  if (tensor.gradient.defined()) tensor.gradient.copy_(gradient);
}

/// y = x W^T + b: dW = dy^T x, db = sum of dy over rows, dx = dy W.
class Linear : public Layer {
 public:
  Linear(LayerTensor weight, LayerTensor bias)
      : weight_(std::move(weight)), bias_(std::move(bias)), transposed_(weight_.value.t()) {}

  at::Tensor forward(const at::Tensor& input) override {
    input_ = input;
    fit(output_, {input.size(0), transposed_.size(1)});
    if (bias_.value.defined())
      at::addmm_out(output_, bias_.value, input, transposed_);
    else
      at::mm_out(output_, input, transposed_);
    return output_;
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    if (weight_.gradient.defined()) at::mm_out(weight_.gradient, gradient.t(), input_);
    if (bias_.gradient.defined()) at::sum_out(bias_.gradient, gradient, {0});
    if (!wanted) return {};
    fit(gradient_, input_.sizes());
    at::mm_out(gradient_, gradient, weight_.value);
    return gradient_;
  }

 private:
  LayerTensor weight_, bias_;
  at::Tensor transposed_, input_, output_, gradient_;
};

class Conv2d : public Layer {
 public:
  explicit Conv2d(const LayerSource& source)
      : weight_(layer_tensor(source, "weight")),
        bias_(layer_tensor(source, "bias")),
        stride_(source.integers("stride", 1)),
        padding_(source.integers("padding", 0)),
        dilation_(source.integers("dilation", 1)),
        groups_(source.constant("groups") ? source.constant("groups")->as_int() : 1),
        bias_shape_{weight_.value.size(0)} {}

  at::Tensor forward(const at::Tensor& input) override {
    input_ = input;
    return at::conv2d(input, weight_.value, bias_.value, stride_, padding_, dilation_, groups_);
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    const auto [input, weight, bias] = at::convolution_backward(
        gradient, input_, weight_.value, at::IntArrayRef(bias_shape_), stride_, padding_, dilation_,
        false, {0, 0}, groups_, {wanted, weight_.gradient.defined(), bias_.gradient.defined()});
    store(weight_, weight);
    store(bias_, bias);
    return input;
  }

 private:
  LayerTensor weight_, bias_;
  std::vector<std::int64_t> stride_, padding_, dilation_;
  std::int64_t groups_;
  std::vector<std::int64_t> bias_shape_;
  at::Tensor input_;
};

class BatchNorm : public Layer {
 public:
  explicit BatchNorm(const LayerSource& source)
      : weight_(layer_tensor(source, "weight")),
        bias_(layer_tensor(source, "bias")),
        mean_(layer_tensor(source, "running_mean").value),
        variance_(layer_tensor(source, "running_var").value),
        momentum_(source.constant("momentum")->as_double()),
        epsilon_(source.constant("eps")->as_double()) {
    const auto batches = source.tensors.find(source.node.target + ".num_batches_tracked");
    if (batches != source.tensors.end()) batches_ = batches->second;
  }

  at::Tensor forward(const at::Tensor& input) override {
    input_ = input;
    at::Tensor output;
    std::tie(output, saved_mean_, saved_scale_) = at::native_batch_norm(
        input, weight_.value, bias_.value, mean_, variance_, true, momentum_, epsilon_);
    if (batches_.defined()) ++*batches_.data_ptr<std::int64_t>();
    return output;
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    const auto [input, weight, bias] = at::native_batch_norm_backward(
        gradient, input_, weight_.value, mean_, variance_, saved_mean_, saved_scale_, true,
        epsilon_, {wanted, weight_.gradient.defined(), bias_.gradient.defined()});
    store(weight_, weight);
    store(bias_, bias);
    return input;
  }

 private:
  LayerTensor weight_, bias_;
  at::Tensor mean_, variance_, batches_;
  double momentum_, epsilon_;
  at::Tensor input_, saved_mean_, saved_scale_;
};

/// Batch norm over [rows, channels]: several times faster than the general operator.
class BatchNorm1d : public Layer {
 public:
  explicit BatchNorm1d(const LayerSource& source)
      : weight_(layer_tensor(source, "weight")),
        bias_(layer_tensor(source, "bias")),
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
    batch_norm_forward(floats(input_), rows(), channels(), floats(weight_.value),
                       floats(bias_.value), epsilon_, floats(output_), statistics_);
    blend(mean_, statistics_.mean);
    blend(variance_, statistics_.unbiased);
    if (batches_.defined()) ++*batches_.data_ptr<std::int64_t>();
    return output_;
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    if (wanted) fit(gradient_, input_.sizes());
    const at::Tensor from = gradient.contiguous();
    batch_norm_backward(floats(from), floats(input_), rows(), channels(), floats(weight_.value),
                        statistics_, wanted ? floats(gradient_) : nullptr, floats(weight_.gradient),
                        floats(bias_.gradient));
    return wanted ? gradient_ : at::Tensor();
  }

 private:
  static float* floats(const at::Tensor& tensor) {
    return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
  }
  std::size_t rows() const { return static_cast<std::size_t>(input_.size(0)); }
  std::size_t channels() const { return static_cast<std::size_t>(input_.size(1)); }
  void blend(const at::Tensor& running, const std::vector<float>& now) const {
    float* values = floats(running);
    for (std::size_t c = 0; values && c < now.size(); ++c)
      values[c] = momentum_ * now[c] + (1.0f - momentum_) * values[c];
  }

  LayerTensor weight_, bias_;
  at::Tensor mean_, variance_, batches_;
  float momentum_;
  double epsilon_;
  at::Tensor input_, output_, gradient_;
  BatchStatistics statistics_;
};

}  // namespace

std::unique_ptr<Layer> make_linear(const LayerSource& source) {
  LayerTensor weight = layer_tensor(source, "weight"), bias = layer_tensor(source, "bias");
  // Rows of one dimension only: [rows, features] in and out.
  if (!weight.value.defined() || source.node.info.shape.size() != 2) return nullptr;
  return std::make_unique<Linear>(std::move(weight), std::move(bias));
}

std::unique_ptr<Layer> make_conv2d(const LayerSource& source) {
  const bool whole =
      layer_tensor(source, "weight").value.defined() && source.node.info.shape.size() == 4;
  return whole ? std::make_unique<Conv2d>(source) : nullptr;
}

std::unique_ptr<Layer> make_batch_norm(const LayerSource& source) {
  const bool momentum = source.constant("momentum") && !source.constant("momentum")->is_none();
  if (!source.trains("training") || !momentum || !source.constant("eps")) return nullptr;
  if (source.node.info.shape.size() == 2) return std::make_unique<BatchNorm1d>(source);
  return std::make_unique<BatchNorm>(source);
}

}  // namespace mase::train
