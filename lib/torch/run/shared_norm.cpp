// SPDX-License-Identifier: Apache-2.0
// Two functions of autograd that each exchange sums once forward and once backward.
#include "torch/run/shared_norm.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tensor.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

namespace mase::libtorch {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The channels' values as [1, channels, 1, ...].
at::Tensor beside(const at::Tensor& values, const at::Tensor& input) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(input.dim()), 1);
  shape[1] = -1;
  return values.view(shape);
}

/// The sum of each channel, in double.
at::Tensor channel_sums(const at::Tensor& values) {
  std::vector<std::int64_t> dimensions;
  for (std::int64_t d = 0; d < values.dim(); ++d)
    if (d != 1) dimensions.push_back(d);
  return at::sum(values, dimensions, false, at::kDouble);
}

std::vector<double> numbers_of(const at::Tensor& values) {
  const at::Tensor here = values.to(at::kCPU, at::kDouble).contiguous();
  const double* const first = here.data_ptr<double>();
  return {first, first + here.numel()};
}

at::Tensor like(const at::Tensor& input, const std::vector<double>& values) {
  return at::tensor(values, at::kDouble).to(input.options().requires_grad(false));
}

BatchMoments moments_of_all(const at::Tensor& input) {
  BatchMoments moments;
  moments.count = static_cast<double>(input.numel() / input.size(1));
  moments.sums = numbers_of(channel_sums(input));
  const at::Tensor means = like(input, moments.sums) / moments.count;
  moments.means = numbers_of(means);
  moments.squares = numbers_of(channel_sums((input - beside(means, input)).square()));
  take_all_parts(moments);
  return moments;
}

/// The sums of two numbers of each channel over all parts.
std::pair<at::Tensor, at::Tensor> over_all(BatchParts& parts, const at::Tensor& first,
                                           const at::Tensor& second, const at::Tensor& input) {
  std::vector<double> own = numbers_of(first);
  const std::size_t channels = own.size();
  const std::vector<double> other = numbers_of(second);
  own.insert(own.end(), other.begin(), other.end());
  const std::vector<double> all = sum_over(parts, std::move(own));
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(channels);
  return {like(input, {all.begin(), middle}), like(input, {middle, all.end()})};
}

c10::IValue handle(BatchParts& parts) { return reinterpret_cast<std::int64_t>(&parts); }
BatchParts& parts_of(AutogradContext& context) {
  return *reinterpret_cast<BatchParts*>(context.saved_data["parts"].toInt());
}

void blend_in(at::Tensor running, const at::Tensor& now, double momentum) {
  if (running.defined()) running.mul_(1.0 - momentum).add_(now, momentum);
}

struct SharedNorm : torch::autograd::Function<SharedNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& weight, const at::Tensor& bias,
                            const TrainingNorm& norm, BatchParts& parts) {
    const BatchMoments moments = moments_of_all(input);
    const at::Tensor mean = like(input, moments.means), squares = like(input, moments.squares);
    const at::Tensor scale = (squares / moments.count + norm.epsilon).rsqrt();
    blend_in(norm.running_mean, mean, norm.momentum);
    blend_in(norm.running_variance, squares / (moments.count - 1), norm.momentum);
    context->save_for_backward({input, mean, scale, weight});
    context->saved_data["parts"] = handle(parts);
    context->saved_data["count"] = moments.count;
    const at::Tensor factor = weight.defined() ? scale * weight : scale;
    at::Tensor out = (input - beside(mean, input)).mul_(beside(factor, input));
    return bias.defined() ? out.add_(beside(bias, input)) : out;
  }

  /// dx = (dy - mean(dy) - (x - mean) * scale^2 * mean((x - mean) dy)) * scale * weight
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &input = saved[0], &scale = saved[2], &weight = saved[3];
    const at::Tensor& gradient = gradients[0];
    BatchParts& parts = parts_of(*context);
    const double count = context->saved_data["count"].toDouble();
    at::Tensor centred = input - beside(saved[1], input);
    const at::Tensor sums = channel_sums(gradient), products = channel_sums(centred * gradient);
    const auto [all_sums, all_products] = over_all(parts, sums, products, input);
    at::Tensor into;
    if (context->needs_input_grad(0) && parts.counts()) {
      const at::Tensor slope = all_products * scale.square() / count;
      const at::Tensor factor = weight.defined() ? scale * weight : scale;
      into = centred.mul_(beside(-slope, input)).add_(gradient);
      into.sub_(beside(all_sums / count, input)).mul_(beside(factor, input));
    } else if (context->needs_input_grad(0)) {
      into = centred.zero_();
    }
    const at::Tensor none;
    return {into, weight.defined() ? products.to(input.options()) * scale : none,
            sums.to(input.options()), none, none};
  }
};

struct Moments : torch::autograd::Function<Moments> {
  static variable_list forward(AutogradContext* context, const at::Tensor& input, BatchParts& parts,
                               double& count) {
    const BatchMoments moments = moments_of_all(input);
    count = moments.count;
    const at::Tensor mean = like(input, moments.means);
    context->save_for_backward({input, mean});
    context->saved_data["parts"] = handle(parts);
    context->saved_data["count"] = count;
    return {like(input, moments.squares) / count, mean};
  }

  /// dx = (dmean + 2 (x - mean) dvariance) / count
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& input = saved[0];
    const double count = context->saved_data["count"].toDouble();
    const auto [of_variance, of_mean] =
        over_all(parts_of(*context), gradients[0], gradients[1], input);
    at::Tensor into = input - beside(saved[1], input);
    if (!parts_of(*context).counts()) return {into.zero_(), {}, {}};
    into.mul_(beside(of_variance * (2 / count), input)).add_(beside(of_mean / count, input));
    return {into, {}, {}};
  }
};

}  // namespace

at::Tensor shared_norm(const TrainingNorm& norm, BatchParts& parts) {
  return SharedNorm::apply(norm.input, norm.weight, norm.bias, norm, parts);
}

SharedMoments shared_moments(const at::Tensor& input, BatchParts& parts) {
  SharedMoments found;
  const variable_list both = Moments::apply(input, parts, found.count);
  found.variance = both[0];
  found.mean = both[1];
  return found;
}

}  // namespace mase::libtorch
