// SPDX-License-Identifier: Apache-2.0
// The loops over batches whose images lie side by side in lanes. A bundle is 16 images; a plane of
// it is [height, width, 16], one channel; planes lie plane_stride() apart. Pointers are to floats,
// strides count floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd/kernels.hpp"

namespace mase::train {

constexpr std::size_t lane_count = 16;

/// A vector in memory, which begins with a cache line. (An array of floats may begin anywhere: each
/// of its vectors then takes two lines.)
struct alignas(64) Lanes {
  float of[lane_count] = {};
};

/// Floats from one plane of so many positions to the next: an odd number of vectors, because planes
/// that lie a multiple of 4 KiB apart would fight for the same few places of the nearest cache.
constexpr std::size_t plane_stride(std::size_t positions) { return (positions | 1) * lane_count; }

/// One tap of a convolution along one axis: where its coefficients begin, and the element of the
/// source that it reads.
struct Tap {
  std::size_t coefficients = 0, source = 0;
};

/// out[o][y][x] = bias[o] + the sum over the taps (r, c) of rows[y] x columns[x], and over the
/// channels i of the source, of coefficient (r + c, i, o) * in[i][r + c]. A convolution forward,
/// and backward to its input. Coefficients are [block][tap][i][o in block], in blocks of output
/// channels as next_block() cuts them; a tap's own offset counts coefficients of one output
/// channel.
struct Gather {
  std::vector<std::vector<Tap>> rows, columns;
  std::size_t in_channels = 0, out_channels = 0;
  std::size_t in_plane = 0, out_plane = 0;
  std::size_t taps = 0;  ///< of the whole kernel
};

/// Bundles of one group of channels.
template <class Float>
struct Bundles {
  Float* first = nullptr;
  std::size_t stride = 0;
};

/// Outputs [first, last) of an axis read element `source` and on, `stride` apart, for one tap.
struct TapRange {
  std::size_t first = 0, last = 0, source = 0;
};

/// sums[o][tap][i] += gradient[o][y][x] * in[i][y', x'] by lanes, over the outputs that read (y',
/// x') for the tap: a convolution's backward step to its weight. Sums are in the order of Gather's
/// coefficients, 16 for each.
struct WeightSums {
  std::vector<TapRange> rows, columns;            ///< one for each tap of the axis
  std::size_t row_stride = 1, column_stride = 1;  ///< of the convolution
  std::size_t in_channels = 0, out_channels = 0;
  std::size_t in_plane = 0, out_plane = 0;
  std::size_t in_width = 0, out_height = 0, out_width = 0;
};

/// A plane [height, width] that is normalised, y = x * by + plus, before the tail.
struct NormalisedPlane {
  const float* x = nullptr;
  std::size_t height = 0, width = 0;
  float by = 1, plus = 0;
  float low = 0, high = 0;        ///< of Activation::clamp
  const float* addend = nullptr;  ///< of Joint::sum, in the same shape
};

/// d loss / d x = (g - average - (x - mean) * slope) * factor for the gradient g of y.
struct PlaneGradient {
  float mean = 0, average = 0, slope = 0, factor = 1;
};

/// What stands between the normalised plane and the activation: 2 x 2 max pooling (NaN wins; the
/// first largest in reading order has the gradient; an odd last row or column is left out), or a
/// sum with another plane.
enum class Joint : std::uint8_t { none, pool, sum };

/// ReLU, or a clamp to low .. high (ReLU6), whose bounds let no gradient through.
enum class Activation : std::uint8_t { none, relu, clamp };

/// What `Tail::sums` reads and writes.
struct TailGradient {
  const float* x = nullptr;  ///< the winners with pooling, else the plane
  const float* out = nullptr;
  const float* gradient = nullptr;
  std::size_t count = 0;  ///< of the outputs
  float mean = 0, low = 0, high = 0;
  float* passed = nullptr;  ///< gets what the activation lets through, where given
};

/// What follows a normalised plane. (The order of pooling and activation makes no difference.)
struct Tail {
  /// `winners` gets the x whose y each output is, for pooling; null where nobody asks.
  void (*forward)(const NormalisedPlane& plane, float* out, float* winners);
  /// The sums over all outputs, by lanes, of the gradient g of y and of (x - mean) g.
  void (*sums)(const TailGradient& of, float* sum, float* product);
  /// With a sum: of the gradient that the activation let through.
  void (*backward)(const NormalisedPlane& plane, const float* gradient, const PlaneGradient& rule,
                   float* into);
};

/// All loops for one instruction set. They add in the same order everywhere; products are rounded
/// before they are added only where there is no fused operation.
struct LaneKernels {
  std::size_t most_rows = 1;  ///< output channels in the largest block: a power of two
  std::size_t side = 1;       ///< bundles that `gather` takes at a time
  void (*gather)(const Gather& gather, const float* coefficients, const float* bias,
                 Bundles<const float> in, Bundles<float> out, std::size_t count);
  void (*weight_sums)(const WeightSums& plan, const float* in, const float* gradient, float* sums);
  /// sum = the sum over a plane of `count` positions by lanes; squares: of (x - about)^2.
  void (*sum)(const float* plane, std::size_t count, float* sum);
  void (*squares)(const float* plane, std::size_t count, const float* about, float* sum);
  /// Between 16 rows of `count` floats and [count, 16].
  void (*pack)(const float* const* rows, std::size_t count, float* out);
  void (*unpack)(const float* in, std::size_t count, float* const* rows);
  Tail tails[3][3];  ///< [Joint][Activation]
};

/// Output channels of the next block where `left` are left.
inline std::size_t next_block(std::size_t left, std::size_t most) {
  while (most > left) most /= 2;
  return most;
}

MASE_KERNELS(LaneKernels, lane_kernels, avx512);

}  // namespace mase::train
