// SPDX-License-Identifier: Apache-2.0
// Batch norm, 2 x 2 max pooling or a sum, and an activation over lanes, as one layer.
#include "torch/train/lanes/tail_layer.hpp"

#include <ATen/core/Tensor.h>

#include <cmath>
#include <numeric>

namespace mase::train {
namespace {

/// The mean of every channel, and the sums of squared differences from it. Squares are taken about
/// the mean of each lane's plane while it is in the cache, then shifted to the channel's mean.
class ChannelMoments {
 public:
  ChannelMoments(const float* in, const BatchSizes& sizes, const LaneKernels& kernels)
      : sizes_(sizes), means_(sizes.planes() * lane_count), squares_(means_.size()) {
    for (std::size_t p = 0; p < sizes.planes(); ++p) {
      const float* const plane = in + p * plane_stride(sizes.positions);
      float* const means = means_.data() + p * lane_count;
      kernels.sum(plane, sizes.positions, means);
      for (std::size_t lane = 0; lane < lane_count; ++lane)
        means[lane] /= static_cast<float>(sizes.positions);
      kernels.squares(plane, sizes.positions, means, squares_.data() + p * lane_count);
    }
  }

  double mean(std::size_t channel) const {
    double sum = 0;
    for_each_lane(channel, [&](std::size_t i) { sum += static_cast<double>(means_[i]); });
    return sum / static_cast<double>(sizes_.images);
  }
  double squares(std::size_t channel, double about) const {
    double sum = 0;
    for_each_lane(channel, [&](std::size_t i) {
      const double apart = static_cast<double>(means_[i]) - about;
      sum +=
          static_cast<double>(squares_[i]) + static_cast<double>(sizes_.positions) * apart * apart;
    });
    return sum;
  }

 private:
  /// Calls visit(index of a lane's number) for the lanes with an image.
  template <class Visit>
  void for_each_lane(std::size_t channel, Visit&& visit) const {
    for (std::size_t image = 0; image < sizes_.images; ++image)
      visit((image / lane_count * sizes_.channels + channel) * lane_count + image % lane_count);
  }

  BatchSizes sizes_;
  std::vector<float> means_, squares_;
};

float* plane_of(const at::Tensor& lanes, std::size_t p) {
  return floats(lanes) + p * static_cast<std::size_t>(lanes.stride(1));
}

double sum_of_lanes(const float* sums) { return std::accumulate(sums, sums + lane_count, 0.0); }

}  // namespace

LaneTail::LaneTail(const LayerSource& source)
    : ParameterLayer(source), kernels_(lane_kernels(simd::best_isa())), batch_(source.batch) {
  if (is_training_batch_norm(source))
    running_.emplace(source);
  else
    absorb(source);
}

bool LaneTail::absorb(const LayerSource& source) {
  if (is_square_pool(source)) return absorb_joint(Joint::pool);
  if (train::is_sum(source.graph, source.node))
    return activation_ == Activation::none && absorb_joint(Joint::sum);
  return absorb_activation(source);
}

bool LaneTail::absorb_joint(Joint joint) {
  if (joint_ != Joint::none) return false;
  joint_ = joint;
  return true;
}

bool LaneTail::absorb_activation(const LayerSource& source) {
  const auto bounds = activation_bounds(source);
  if (activation_ != Activation::none || !bounds) return false;
  activation_ = std::isinf(bounds->high) ? Activation::relu : Activation::clamp;
  low_ = static_cast<float>(bounds->low);
  high_ = static_cast<float>(bounds->high);
  return true;
}

const Tail& LaneTail::tail() const {
  return kernels_.tails[static_cast<std::size_t>(joint_)][static_cast<std::size_t>(activation_)];
}

at::Tensor LaneTail::forward(const at::Tensor& input) {
  input_ = input;
  sizes_ = batch_sizes(input, batch_->images);
  if (running_) find_statistics();
  fit_output();
  for (std::size_t p = 0; p < sizes_.planes(); ++p)
    tail().forward(plane(p), plane_of(output_, p),
                   asks_winners() ? plane_of(winners_, p) : nullptr);
  return output_;
}

void LaneTail::fit_output() {
  std::vector<std::int64_t> shape = input_.sizes().vec();
  for (std::size_t d : {shape.size() - 3, shape.size() - 2})
    if (is_pool()) shape[d] /= 2;
  fit_lanes(output_, shape);
  if (asks_winners()) fit_lanes(winners_, shape);
}

void LaneTail::find_statistics() {
  const ChannelMoments of(floats(input_), sizes_, kernels_);
  libtorch::BatchMoments moments;
  moments.count = static_cast<double>(sizes_.images * sizes_.positions);
  for (std::size_t c = 0; c < sizes_.channels; ++c) {
    const double mean = of.mean(c);
    moments.means.push_back(mean);
    moments.sums.push_back(mean * moments.count);
    moments.squares.push_back(of.squares(c, mean));
  }
  statistics_ = batch_statistics(std::move(moments), running_->epsilon());
  running_->add(statistics_);
}

NormalisedPlane LaneTail::plane(std::size_t p) const {
  const auto width = static_cast<std::size_t>(input_.size(input_.dim() - 2));
  NormalisedPlane plane{plane_of(input_, p), sizes_.positions / width, width};
  plane.low = low_;
  plane.high = high_;
  if (is_sum()) plane.addend = plane_of(addend_, p);
  if (!running_) return plane;
  const std::size_t c = p % sizes_.channels;
  const float *weight = floats(weight_.used), *bias = floats(bias_.used);
  plane.by = statistics_.scale[c] * (weight ? weight[c] : 1.0F);
  plane.plus = (bias ? bias[c] : 0.0F) - statistics_.mean[c] * plane.by;
  return plane;
}

void LaneTail::begin_backward(const at::Tensor& gradient) {
  output_gradient_ = gradient;
  if (running_ || is_sum()) find_sums();
  if (is_sum()) output_gradient_ = passed_;
  if (running_) rule_ = input_rule();
  finish_gradients();
}

void LaneTail::find_sums() {
  const bool keeps = is_sum() && activation_ != Activation::none;
  if (keeps) fit_lanes(passed_buffer_, output_.sizes());
  passed_ = keeps ? passed_buffer_ : output_gradient_;
  gradient_sums_.sums.assign(sizes_.channels, 0);
  gradient_sums_.products.assign(sizes_.channels, 0);
  TailGradient of;
  of.count = batch_sizes(output_, sizes_.images).positions;
  of.low = low_;
  of.high = high_;
  for (std::size_t p = 0; p < sizes_.planes(); ++p) {
    const std::size_t c = p % sizes_.channels;
    of.x = plane_of(asks_winners() ? winners_ : input_, p);
    of.out = plane_of(output_, p);
    of.gradient = plane_of(output_gradient_, p);
    if (running_) of.mean = statistics_.mean[c];
    if (keeps) of.passed = plane_of(passed_, p);
    float sum[lane_count], product[lane_count];
    tail().sums(of, sum, product);
    gradient_sums_.sums[c] += sum_of_lanes(sum);
    gradient_sums_.products[c] += sum_of_lanes(product);
  }
}

InputGradient LaneTail::input_rule() {
  return input_gradient(gradient_sums_, floats(weight_.used), statistics_, floats(weight_.gradient),
                        floats(bias_.gradient));
}

void LaneTail::write_gradient(std::size_t first, std::size_t count, float* into) const {
  for (std::size_t i = 0; i < count * sizes_.channels; ++i) {
    const std::size_t p = first * sizes_.channels + i, c = p % sizes_.channels;
    PlaneGradient rule;
    if (running_) rule = {statistics_.mean[c], rule_.average[c], rule_.slope[c], rule_.factor[c]};
    tail().backward(plane(p), plane_of(output_gradient_, p), rule,
                    into + i * plane_stride(sizes_.positions));
  }
  const std::size_t images = std::min(sizes_.images - first * lane_count, count * lane_count);
  clear_unused_lanes(into, {images, sizes_.channels, sizes_.positions});
}

at::Tensor LaneTail::backward(const at::Tensor& gradient, bool wanted) {
  begin_backward(gradient);
  if (!wanted) return {};
  if (is_sum() && !running_) return passed_;
  fit_lanes(gradient_, input_.sizes());
  write_gradient(0, sizes_.bundles(), floats(gradient_));
  return gradient_;
}

std::unique_ptr<LaneTail> make_lane_tail(const LayerSource& source) {
  const bool known = activation_bounds(source) || is_square_pool(source) ||
                     is_sum(source.graph, source.node) ||
                     (is_training_batch_norm(source) && source.node.info.shape.size() > 2);
  return known ? std::make_unique<LaneTail>(source) : nullptr;
}

}  // namespace mase::train
