// SPDX-License-Identifier: Apache-2.0
// The register tiles of convolutions over bundles. Included by kernels.simd.cpp.
#pragma once

#include <algorithm>

#include "simd/lanes.hpp"
#include "torch/train/lanes/kernels.hpp"

namespace mase::train {
namespace {

using simd::all;
using simd::lanes;
using simd::load;
using simd::store;
using simd::Vec;

/// Computes `rows` output channels of `bundles` bundles at every position.
template <std::size_t rows, std::size_t bundles>
MASE_SIMD void gather_block(const Gather& gather, const float* coefficients, const float* bias,
                            Bundles<const float> in, Bundles<float> out) {
  float* to = out.first;
  for (const std::vector<Tap>& row : gather.rows)
    for (const std::vector<Tap>& column : gather.columns) {
      Vec sums[rows][bundles];
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t b = 0; b < bundles; ++b) sums[r][b] = all(bias ? bias[r] : 0.0F);
      for (const Tap& y : row)
        for (const Tap& x : column) {
          const float* by = coefficients + (y.coefficients + x.coefficients) * rows;
          const float* from = in.first + y.source + x.source;
          for (std::size_t i = 0; i < gather.in_channels; ++i) {
            Vec values[bundles];
            for (std::size_t b = 0; b < bundles; ++b) values[b] = load(from + b * in.stride);
            for (std::size_t r = 0; r < rows; ++r)
              for (std::size_t b = 0; b < bundles; ++b)
                sums[r][b] = sums[r][b] + all(by[r]) * values[b];
            by += rows;
            from += gather.in_plane;
          }
        }
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t b = 0; b < bundles; ++b)
          store(to + r * gather.out_plane + b * out.stride, sums[r][b]);
      to += lanes;
    }
}

/// Computes all output channels of `bundles` bundles.
template <std::size_t most_rows, std::size_t bundles>
MASE_SIMD void gather_blocks(const Gather& gather, const float* coefficients, const float* bias,
                             Bundles<const float> in, Bundles<float> out) {
  for (std::size_t o = 0; o < gather.out_channels;) {
    const std::size_t rows = next_block(gather.out_channels - o, most_rows);
    const float* const own = coefficients + o * gather.taps * gather.in_channels;
    const float* const add = bias ? bias + o : nullptr;
    const Bundles<float> to{out.first + o * gather.out_plane, out.stride};
    if (rows == most_rows) gather_block<most_rows, bundles>(gather, own, add, in, to);
    if constexpr (most_rows > 4)
      if (rows == 4) gather_block<4, bundles>(gather, own, add, in, to);
    if constexpr (most_rows > 2)
      if (rows == 2) gather_block<2, bundles>(gather, own, add, in, to);
    if constexpr (most_rows > 1)
      if (rows == 1) gather_block<1, bundles>(gather, own, add, in, to);
    o += rows;
  }
}

template <std::size_t most_rows, std::size_t most_bundles>
MASE_SIMD_TARGET void gather_bundles(const Gather& gather, const float* coefficients,
                                     const float* bias, Bundles<const float> in, Bundles<float> out,
                                     std::size_t count) {
  while (count > 0) {
    const std::size_t step = count >= most_bundles ? most_bundles : 1;
    if (step == 1)
      gather_blocks<most_rows, 1>(gather, coefficients, bias, in, out);
    else
      gather_blocks<most_rows, most_bundles>(gather, coefficients, bias, in, out);
    in.first += step * in.stride;
    out.first += step * out.stride;
    count -= step;
  }
}

/// A rectangle of outputs, and the elements that they read for one tap.
struct TapArea {
  const float* gradient;
  const float* in;
  std::size_t height, width;
  std::size_t gradient_row, in_row, in_step;
};

template <std::size_t rows, std::size_t channels>
MASE_SIMD void weight_tile(const WeightSums& plan, const TapArea& area, const float* in,
                           float* sums) {
  Vec sum[channels][rows];
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t r = 0; r < rows; ++r) sum[c][r] = load(sums + (c * rows + r) * lanes);
  for (std::size_t y = 0; y < area.height; ++y) {
    const float* gradient = area.gradient + y * area.gradient_row;
    const float* from = in + y * area.in_row;
    for (std::size_t x = 0; x < area.width; ++x) {
      Vec values[channels];
      for (std::size_t c = 0; c < channels; ++c) values[c] = load(from + c * plan.in_plane);
      for (std::size_t r = 0; r < rows; ++r) {
        const Vec g = load(gradient + r * plan.out_plane);
        for (std::size_t c = 0; c < channels; ++c) sum[c][r] = sum[c][r] + g * values[c];
      }
      gradient += lanes;
      from += area.in_step;
    }
  }
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t r = 0; r < rows; ++r) store(sums + (c * rows + r) * lanes, sum[c][r]);
}

/// Computes `rows` output channels and one tap, for all input channels.
template <std::size_t rows, std::size_t most_channels>
MASE_SIMD void weight_channels(const WeightSums& plan, const TapArea& area, float* sums) {
  std::size_t i = 0;
  for (; i + most_channels <= plan.in_channels; i += most_channels)
    weight_tile<rows, most_channels>(plan, area, area.in + i * plan.in_plane,
                                     sums + i * rows * lanes);
  for (; i < plan.in_channels; ++i)
    weight_tile<rows, 1>(plan, area, area.in + i * plan.in_plane, sums + i * rows * lanes);
}

/// The number of outputs to process for one tap after the other, so that their gradients stay in
/// the nearest cache and the sums in registers.
constexpr std::size_t positions_per_pass = 48;

template <std::size_t rows, std::size_t most_channels>
MASE_SIMD void weight_block(const WeightSums& plan, const float* in, const float* gradient,
                            float* sums) {
  const std::size_t pass = std::max<std::size_t>(1, positions_per_pass / plan.out_width);
  const std::size_t gradient_row = plan.out_width * lanes, in_width = plan.in_width * lanes;
  for (std::size_t y = 0; y < plan.out_height; y += pass) {
    float* to = sums;
    for (const TapRange& row : plan.rows)
      for (const TapRange& column : plan.columns) {
        const std::size_t first = std::max(row.first, y), last = std::min(row.last, y + pass);
        if (first < last && column.first < column.last) {
          const std::size_t source = row.source + (first - row.first) * plan.row_stride;
          weight_channels<rows, most_channels>(
              plan,
              {gradient + first * gradient_row + column.first * lanes,
               in + source * in_width + column.source * lanes, last - first,
               column.last - column.first, gradient_row, plan.row_stride * in_width,
               plan.column_stride * lanes},
              to);
        }
        to += plan.in_channels * rows * lanes;
      }
  }
}

template <std::size_t most_rows, std::size_t most_channels>
MASE_SIMD_TARGET void weight_sums(const WeightSums& plan, const float* in, const float* gradient,
                                  float* sums) {
  const std::size_t size = plan.rows.size() * plan.columns.size() * plan.in_channels * lanes;
  for (std::size_t o = 0; o < plan.out_channels;) {
    const std::size_t rows = next_block(plan.out_channels - o, most_rows);
    const float* const own = gradient + o * plan.out_plane;
    float* const to = sums + o * size;
    if (rows == most_rows) weight_block<most_rows, most_channels>(plan, in, own, to);
    if constexpr (most_rows > 4)
      if (rows == 4) weight_block<4, most_channels>(plan, in, own, to);
    if constexpr (most_rows > 2)
      if (rows == 2) weight_block<2, most_channels>(plan, in, own, to);
    if constexpr (most_rows > 1)
      if (rows == 1) weight_block<1, most_channels>(plan, in, own, to);
    o += rows;
  }
}

}  // namespace
}  // namespace mase::train
