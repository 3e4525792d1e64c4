// SPDX-License-Identifier: Apache-2.0
// The layers with parameters over rows: linear and batch norm.
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>

#include "torch/train/lanes/tail_layer.hpp"
#include "torch/train/parameter_layer.hpp"

namespace mase::train {
namespace {

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
    finish_gradients();
    if (!wanted) return {};
    fit(gradient_, input_.sizes());
    at::mm_out(gradient_, gradient, weight_.used);
    return gradient_;
  }

 private:
  at::Tensor transposed_, input_, output_, gradient_;
};

/// A batch norm in training mode, over [rows, channels].
class BatchNorm : public ParameterLayer {
 public:
  explicit BatchNorm(const LayerSource& source) : ParameterLayer(source), running_(source) {}

  at::Tensor forward(const at::Tensor& input) override {
    input_ = input.contiguous();
    fit(output_, input.sizes());
    batch_norm_forward(floats(input_), size(0), size(1), floats(weight_.used), floats(bias_.used),
                       running_.epsilon(), floats(output_), statistics_);
    running_.add(statistics_);
    return output_;
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    if (wanted) fit(gradient_, input_.sizes());
    const at::Tensor from = gradient.contiguous();
    batch_norm_backward(floats(from), floats(input_), size(0), size(1), floats(weight_.used),
                        statistics_, wanted ? floats(gradient_) : nullptr, floats(weight_.gradient),
                        floats(bias_.gradient));
    finish_gradients();
    return wanted ? gradient_ : at::Tensor();
  }

 private:
  std::size_t size(int dimension) const { return static_cast<std::size_t>(input_.size(dimension)); }

  RunningStatistics running_;
  at::Tensor input_, output_, gradient_;
  BatchStatistics statistics_;
};

}  // namespace

RunningStatistics::RunningStatistics(const LayerSource& source)
    : mean_(layer_tensor(source, "running_mean").value),
      variance_(layer_tensor(source, "running_var").value),
      momentum_(static_cast<float>(source.constant("momentum")->as_double())),
      epsilon_(source.constant("eps")->as_double()) {
  const std::string counter = source.node.target + ".num_batches_tracked";
  if (const std::string* path = source.graph.tensor_named(counter))
    batches_ = source.tensors.at(*path);
}

void RunningStatistics::add(const BatchStatistics& statistics) {
  const auto blend = [&](const at::Tensor& running, const std::vector<float>& now) {
    float* values = floats(running);
    for (std::size_t c = 0; values && c < now.size(); ++c)
      values[c] = momentum_ * now[c] + (1.0f - momentum_) * values[c];
  };
  blend(mean_, statistics.mean);
  blend(variance_, statistics.unbiased);
  if (batches_.defined()) ++*batches_.data_ptr<std::int64_t>();
}

std::unique_ptr<Layer> make_linear(const LayerSource& source) {
  // Only two dimensions: [rows, features] in and out.
  const bool rows =
      layer_tensor(source, "weight").value.defined() && source.node.info.shape.size() == 2;
  return rows ? std::make_unique<Linear>(source) : nullptr;
}

std::unique_ptr<Layer> make_batch_norm(const LayerSource& source) {
  if (!is_training_batch_norm(source)) return nullptr;
  if (source.node.info.shape.size() != 2) return make_lane_tail(source);
  return std::make_unique<BatchNorm>(source);
}

}  // namespace mase::train
