// SPDX-License-Identifier: Apache-2.0
// A 2-d convolution over bundles of images, forward and backward.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "torch/train/lanes/kernels.hpp"

namespace mase::train {

/// One axis of a convolution: output o reads elements o * stride + k * dilation - padding, where
/// there are such, for k < kernel.
struct ConvolutionAxis {
  std::size_t in = 0, out = 0, kernel = 1, stride = 1, padding = 0, dilation = 1;
};

struct ConvolutionShape {
  std::size_t in_channels = 0, out_channels = 0, groups = 1;
  ConvolutionAxis rows, columns;

  std::size_t taps() const { return rows.kernel * columns.kernel; }
};

/// Tensors are bundles of planes, one after the other (lanes/kernels.hpp).
class Convolution {
 public:
  explicit Convolution(const ConvolutionShape& shape,
                       const LaneKernels& kernels = lane_kernels(simd::best_isa()));

  const ConvolutionShape& shape() const { return shape_; }

  /// Takes over the weight [out_channels, in_channels / groups, rows, columns].
  void set_weight(const float* weight);

  /// `bias` may be null.
  void forward(const float* in, const float* bias, std::size_t bundles, float* out) const;

  /// Where d loss / d something goes; null where nobody asks.
  struct Gradients {
    float* in = nullptr;      ///< as the input
    float* weight = nullptr;  ///< as the weight
    float* bias = nullptr;    ///< [out_channels]
  };
  /// Gives d loss / d out of `count` bundles, which is 0 in lanes without an image; it may be
  /// overwritten by the next call. At most `bundles_at_once()` are asked for.
  using GradientSource = std::function<const float*(std::size_t first, std::size_t count)>;
  std::size_t bundles_at_once() const { return kernels_.side; }
  std::size_t out_bundle() const;  ///< floats of a bundle of the output

  /// Asks for each bundle once, in order; overwrites what is in `into`.
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
