// SPDX-License-Identifier: Apache-2.0
// A 2-d convolution over bundles of images, with its backward step.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "torch/train/lanes/kernels.hpp"

namespace mase::train {

/// An axis of a convolution: output o reads the elements o * stride + k * dilation - padding that
/// exist, for k < kernel.
struct ConvolutionAxis {
  std::size_t in = 0, out = 0, kernel = 1, stride = 1, padding = 0, dilation = 1;
};

struct ConvolutionShape {
  std::size_t in_channels = 0, out_channels = 0, groups = 1;
  ConvolutionAxis rows, columns;

  std::size_t taps() const { return rows.kernel * columns.kernel; }
};

/// The convolution. Tensors are bundles of planes in sequence (lanes/kernels.hpp).
class Convolution {
 public:
  explicit Convolution(const ConvolutionShape& shape,
                       const LaneKernels& kernels = lane_kernels(simd::best_isa()));

  const ConvolutionShape& shape() const { return shape_; }

  /// Sets the weight [out_channels, in_channels / groups, rows, columns].
  void set_weight(const float* weight);

  /// `bias` may be null.
  void forward(const float* in, const float* bias, std::size_t bundles, float* out) const;

  /// Where to write gradients; null for those that are not needed.
  struct Gradients {
    float* in = nullptr;      ///< shaped like the input
    float* weight = nullptr;  ///< shaped like the weight
    float* bias = nullptr;    ///< [out_channels]
  };
  /// Returns d loss / d out of `count` bundles, with 0 in lanes without an image. The next call may
  /// overwrite it. `count` is at most `bundles_at_once()`.
  using GradientSource = std::function<const float*(std::size_t first, std::size_t count)>;
  std::size_t bundles_at_once() const { return kernels_.side; }
  std::size_t out_bundle() const;  ///< floats of a bundle of the output

  /// Requests each bundle once, in order, and overwrites the contents of `into`.
  void backward(const GradientSource& gradient, const float* in, std::size_t bundles,
                const Gradients& into);

 private:
  std::size_t in_bundle() const;
  void gather(const Gather& gather, const std::vector<float>& coefficients, const float* bias,
              Bundles<const float> in, Bundles<float> out, std::size_t bundles) const;
  void add_weight_sums(const float* gradient, const float* in);
  void add_bias_sums(const float* gradient);
  void finish_weight(float* weight) const;

  ConvolutionShape shape_;
  const LaneKernels& kernels_;
  Gather forward_, backward_;
  WeightSums weight_plan_;
  std::vector<float> forward_coefficients_, backward_coefficients_;
  std::vector<Lanes> weight_sums_, bias_sums_;
};

}  // namespace mase::train
