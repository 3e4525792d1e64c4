// Batch norm, 2 x 2 max pooling and ReLU over lanes, as one layer.
#include <ATen/ATen.h>

#include <numeric>
#include <optional>

#include "train/lanes/layers.hpp"
#include "train/parameter_layer.hpp"

namespace mase::train {
namespace {

/// Mean of every channel, and the sums of squared differences from it. Squares are taken about the
/// mean of each lane's plane while it is in the cache, and moved from there.
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

double sum_of_lanes(const float* sums) { return std::accumulate(sums, sums + lane_count, 0.0); }

class LaneTail : public ParameterLayer {
 public:
  LaneTail(const LayerSource& source, bool norm) : ParameterLayer(source), batch_(source.batch) {
    if (norm) running_.emplace(source);
  }

  Layout layout() const override { return Layout::lanes; }

  bool absorb(const LayerSource& source) override {
    bool& wanted = source.node.op == "aten::relu" ? relu_ : pool_;
    if (wanted || !(source.node.op == "aten::relu" || is_square_pool(source))) return false;
    return wanted = true;
  }

  at::Tensor forward(const at::Tensor& input) override {
    input_ = input;
    sizes_ = batch_sizes(input, batch_->images);
    if (running_) find_statistics();
    fit_output();
    for (std::size_t p = 0; p < sizes_.planes(); ++p)
      tail().forward(plane(p), out_plane(output_, p),
                     asks_winners() ? out_plane(winners_, p) : nullptr);
    return output_;
  }

  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    InputGradient rule;
    if (running_) rule = statistics_rule(gradient);
    finish_gradients();
    if (!wanted) return {};
    fit_lanes(gradient_, input_.sizes());
    for (std::size_t p = 0; p < sizes_.planes(); ++p)
      tail().backward(plane(p), out_plane(gradient, p), plane_gradient(rule, p % sizes_.channels),
                      floats(gradient_) + p * plane_stride(sizes_.positions));
    clear_unused_lanes(floats(gradient_), sizes_);
    return gradient_;
  }

 private:
  const Tail& tail() const { return kernels_.tails[pool_][relu_]; }

  void fit_output() {
    std::vector<std::int64_t> shape = input_.sizes().vec();
    for (std::size_t d : {shape.size() - 3, shape.size() - 2})
      if (pool_) shape[d] /= 2;
    fit_lanes(output_, shape);
    if (asks_winners()) fit_lanes(winners_, shape);
  }

  bool asks_winners() const { return pool_ && running_; }

  /// Of a tensor with the output's sizes.
  static float* out_plane(const at::Tensor& tensor, std::size_t p) {
    return floats(tensor) + p * static_cast<std::size_t>(tensor.stride(1));
  }

  void find_statistics() {
    const ChannelMoments moments(floats(input_), sizes_, kernels_);
    std::vector<double> squares(sizes_.channels);
    statistics_.mean.resize(sizes_.channels);
    for (std::size_t c = 0; c < sizes_.channels; ++c) {
      const double mean = moments.mean(c);
      statistics_.mean[c] = static_cast<float>(mean);
      squares[c] = moments.squares(c, mean);
    }
    finish_statistics(squares, count(), running_->epsilon(), statistics_);
    running_->add(statistics_);
  }

  /// Values of a channel in the batch.
  double count() const { return static_cast<double>(sizes_.images * sizes_.positions); }

  NormalisedPlane plane(std::size_t p) const {
    const auto width = static_cast<std::size_t>(input_.size(input_.dim() - 2));
    NormalisedPlane plane{floats(input_) + p * plane_stride(sizes_.positions),
                          sizes_.positions / width, width};
    if (!running_) return plane;
    const std::size_t c = p % sizes_.channels;
    const float *weight = floats(weight_.used), *bias = floats(bias_.used);
    plane.by = statistics_.scale[c] * (weight ? weight[c] : 1.0F);
    plane.plus = (bias ? bias[c] : 0.0F) - statistics_.mean[c] * plane.by;
    return plane;
  }

  /// Writes the gradients of weight and bias.
  InputGradient statistics_rule(const at::Tensor& gradient) {
    std::vector<double> sums(sizes_.channels), products(sizes_.channels);
    const std::size_t outputs = batch_sizes(output_, sizes_.images).positions;
    for (std::size_t p = 0; p < sizes_.planes(); ++p) {
      const std::size_t c = p % sizes_.channels;
      float sum[lane_count], product[lane_count];
      tail().sums(pool_ ? out_plane(winners_, p) : plane(p).x, out_plane(output_, p),
                  out_plane(gradient, p), outputs, statistics_.mean[c], sum, product);
      sums[c] += sum_of_lanes(sum);
      products[c] += sum_of_lanes(product);
    }
    return input_gradient(sums, products, count(), floats(weight_.used), statistics_,
                          floats(weight_.gradient), floats(bias_.gradient));
  }

  PlaneGradient plane_gradient(const InputGradient& rule, std::size_t c) const {
    if (!running_) return {};
    return {statistics_.mean[c], rule.average[c], rule.slope[c], rule.factor[c]};
  }

  const LaneKernels& kernels_ = lane_kernels();
  std::shared_ptr<LaneBatch> batch_;
  std::optional<RunningStatistics> running_;  ///< with a norm
  bool pool_ = false, relu_ = false;
  BatchSizes sizes_;
  BatchStatistics statistics_;
  at::Tensor input_, output_, winners_, gradient_;
};

std::unique_ptr<Layer> make_tail(const LayerSource& source) {
  auto tail = std::make_unique<LaneTail>(source, false);
  tail->absorb(source);
  return tail;
}

}  // namespace

std::unique_ptr<Layer> make_lane_batch_norm(const LayerSource& source) {
  return std::make_unique<LaneTail>(source, true);
}

std::unique_ptr<Layer> make_lane_pool(const LayerSource& source) { return make_tail(source); }
std::unique_ptr<Layer> make_lane_relu(const LayerSource& source) { return make_tail(source); }

}  // namespace mase::train
