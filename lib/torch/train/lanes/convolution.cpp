// SPDX-License-Identifier: Apache-2.0
// Plans convolutions: finds the elements and coefficients that belong together.
#include "torch/train/lanes/convolution.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mase::train {
namespace {

/// The element that output `o` reads for tap `k`; beyond `in` (or below 0, as a large number) if
/// there is none.
std::size_t element(const ConvolutionAxis& axis, std::size_t o, std::size_t k) {
  return o * axis.stride + k * axis.dilation - axis.padding;
}

/// Calls visit(o, k, element) for all outputs and taps with an element.
template <class Visit>
void for_each_meeting(const ConvolutionAxis& axis, Visit&& visit) {
  for (std::size_t o = 0; o < axis.out; ++o)
    for (std::size_t k = 0; k < axis.kernel; ++k)
      if (const std::size_t at = element(axis, o, k); at < axis.in) visit(o, k, at);
}

enum class Direction { forward, backward };

/// For every output the inputs that it reads, or for every input the outputs that read it.
/// Distances of elements and taps are given in floats and coefficients.
std::vector<std::vector<Tap>> axis_taps(const ConvolutionAxis& axis, Direction direction,
                                        std::size_t tap_stride, std::size_t stride) {
  const bool forward = direction == Direction::forward;
  std::vector<std::vector<Tap>> taps(forward ? axis.out : axis.in);
  for_each_meeting(axis, [&](std::size_t o, std::size_t k, std::size_t at) {
    taps[forward ? o : at].push_back({k * tap_stride, (forward ? at : o) * stride});
  });
  return taps;
}

/// For every tap, the outputs that read an element.
std::vector<TapRange> tap_ranges(const ConvolutionAxis& axis) {
  std::vector<TapRange> ranges(axis.kernel);
  for_each_meeting(axis, [&](std::size_t o, std::size_t k, std::size_t at) {
    if (ranges[k].last == 0) ranges[k] = {o, o, at};
    ranges[k].last = o + 1;
  });
  return ranges;
}

std::size_t plane_in(const ConvolutionShape& shape) {
  return plane_stride(shape.rows.in * shape.columns.in);
}
std::size_t plane_out(const ConvolutionShape& shape) {
  return plane_stride(shape.rows.out * shape.columns.out);
}

Gather gather_plan(const ConvolutionShape& shape, Direction direction) {
  std::size_t from = shape.in_channels / shape.groups, to = shape.out_channels / shape.groups;
  std::size_t from_plane = plane_in(shape), to_plane = plane_out(shape);
  if (direction == Direction::backward) {
    std::swap(from, to);
    std::swap(from_plane, to_plane);
  }
  const std::size_t width = direction == Direction::forward ? shape.columns.in : shape.columns.out;
  return {axis_taps(shape.rows, direction, shape.columns.kernel * from, width * lane_count),
          axis_taps(shape.columns, direction, from, lane_count),
          from,
          to,
          from_plane,
          to_plane,
          shape.taps()};
}

WeightSums weight_sums_plan(const ConvolutionShape& shape) {
  return {tap_ranges(shape.rows),
          tap_ranges(shape.columns),
          shape.rows.stride,
          shape.columns.stride,
          shape.in_channels / shape.groups,
          shape.out_channels / shape.groups,
          plane_in(shape),
          plane_out(shape),
          shape.columns.in,
          shape.rows.out,
          shape.columns.out};
}

/// Calls visit(o, i, tap) in the order of Gather's coefficients: [block][tap][i][o in block].
template <class Visit>
void for_each_coefficient(std::size_t outs, std::size_t ins, std::size_t taps,
                          std::size_t most_rows, Visit&& visit) {
  for (std::size_t first = 0; first < outs;) {
    const std::size_t rows = next_block(outs - first, most_rows);
    for (std::size_t tap = 0; tap < taps; ++tap)
      for (std::size_t i = 0; i < ins; ++i)
        for (std::size_t r = 0; r < rows; ++r) visit(first + r, i, tap);
    first += rows;
  }
}

float sum_of(const Lanes& sums) {
  return std::accumulate(std::begin(sums.of), std::end(sums.of), 0.0F);
}

}  // namespace

Convolution::Convolution(const ConvolutionShape& shape, const LaneKernels& kernels)
    : shape_(shape),
      kernels_(kernels),
      forward_(gather_plan(shape, Direction::forward)),
      backward_(gather_plan(shape, Direction::backward)),
      weight_plan_(weight_sums_plan(shape)),
      bias_sums_(shape.out_channels) {
  const std::size_t weights = shape.out_channels * forward_.in_channels * shape.taps();
  forward_coefficients_.resize(weights);
  backward_coefficients_.resize(weights);
  weight_sums_.resize(weights);
}

std::size_t Convolution::in_bundle() const { return shape_.in_channels * forward_.in_plane; }
std::size_t Convolution::out_bundle() const { return shape_.out_channels * forward_.out_plane; }

void Convolution::set_weight(const float* weight) {
  const std::size_t ins = forward_.in_channels, outs = forward_.out_channels, taps = shape_.taps();
  float *to = forward_coefficients_.data(), *back = backward_coefficients_.data();
  for (std::size_t g = 0; g < shape_.groups; ++g, weight += outs * ins * taps) {
    for_each_coefficient(outs, ins, taps, kernels_.most_rows,
                         [&](std::size_t o, std::size_t i, std::size_t tap) {
                           *to++ = weight[(o * ins + i) * taps + tap];
                         });
    for_each_coefficient(ins, outs, taps, kernels_.most_rows,
                         [&](std::size_t i, std::size_t o, std::size_t tap) {
                           *back++ = weight[(o * ins + i) * taps + tap];
                         });
  }
}

void Convolution::gather(const Gather& gather, const std::vector<float>& coefficients,
                         const float* bias, Bundles<const float> in, Bundles<float> out,
                         std::size_t bundles) const {
  for (std::size_t g = 0; g < shape_.groups; ++g) {
    const std::size_t first = g * gather.out_channels;
    kernels_.gather(gather, coefficients.data() + first * gather.in_channels * gather.taps,
                    bias ? bias + first : nullptr,
                    {in.first + g * gather.in_channels * gather.in_plane, in.stride},
                    {out.first + first * gather.out_plane, out.stride}, bundles);
  }
}

void Convolution::forward(const float* in, const float* bias, std::size_t bundles,
                          float* out) const {
  gather(forward_, forward_coefficients_, bias, {in, in_bundle()}, {out, out_bundle()}, bundles);
}

void Convolution::backward(const GradientSource& gradient, const float* in, std::size_t bundles,
                           const Gradients& into) {
  std::fill(weight_sums_.begin(), weight_sums_.end(), Lanes{});
  std::fill(bias_sums_.begin(), bias_sums_.end(), Lanes{});
  // All steps that read a bundle follow while it is in the cache.
  for (std::size_t first = 0; first < bundles; first += bundles_at_once()) {
    const std::size_t count = std::min(bundles - first, bundles_at_once());
    const float* const given = gradient(first, count);
    for (std::size_t b = 0; b < count; ++b) {
      if (into.weight) add_weight_sums(given + b * out_bundle(), in + (first + b) * in_bundle());
      if (into.bias) add_bias_sums(given + b * out_bundle());
    }
    if (into.in)
      gather(backward_, backward_coefficients_, nullptr, {given, out_bundle()},
             {into.in + first * in_bundle(), in_bundle()}, count);
  }
  if (into.weight) finish_weight(into.weight);
  for (std::size_t o = 0; into.bias && o < shape_.out_channels; ++o)
    into.bias[o] = sum_of(bias_sums_[o]);
}

void Convolution::add_weight_sums(const float* gradient, const float* in) {
  const WeightSums& plan = weight_plan_;
  const std::size_t weights = plan.out_channels * plan.in_channels * shape_.taps();
  for (std::size_t g = 0; g < shape_.groups; ++g)
    kernels_.weight_sums(plan, in + g * plan.in_channels * plan.in_plane,
                         gradient + g * plan.out_channels * plan.out_plane,
                         weight_sums_[g * weights].of);
}

void Convolution::add_bias_sums(const float* gradient) {
  const std::size_t positions = shape_.rows.out * shape_.columns.out;
  for (std::size_t o = 0; o < shape_.out_channels; ++o) {
    Lanes sums;
    kernels_.sum(gradient + o * forward_.out_plane, positions, sums.of);
    for (std::size_t lane = 0; lane < lane_count; ++lane) bias_sums_[o].of[lane] += sums.of[lane];
  }
}

void Convolution::finish_weight(float* weight) const {
  const std::size_t ins = forward_.in_channels, outs = forward_.out_channels, taps = shape_.taps();
  const Lanes* sums = weight_sums_.data();
  for (std::size_t g = 0; g < shape_.groups; ++g, weight += outs * ins * taps)
    for_each_coefficient(outs, ins, taps, kernels_.most_rows,
                         [&](std::size_t o, std::size_t i, std::size_t tap) {
                           weight[(o * ins + i) * taps + tap] = sum_of(*sums++);
                         });
}

}  // namespace mase::train
