// SPDX-License-Identifier: Apache-2.0
// Loops over batches whose images are side by side in lanes. A bundle is 16 images. A plane is one
// channel of a bundle, [height, width, 16]. The distance of planes is plane_stride(). Pointers
// point to floats, and strides count floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd/kernels.hpp"

namespace mase::train {

constexpr std::size_t lane_count = 16;

/// A vector in memory, aligned to a cache line. (An array of floats may start anywhere, and each of
/// its vectors may then take two lines.)
struct alignas(64) Lanes {
  float of[lane_count] = {};
};

/// The distance in floats of planes with this many positions: an odd number of vectors, because
/// planes a multiple of 4 KiB apart would compete for the same sets of the nearest cache.
constexpr std::size_t plane_stride(std::size_t positions) { return (positions | 1) * lane_count; }

/// A tap of a convolution along one axis: the start of its coefficients, and the element of the
/// source that it reads.
struct Tap {
  std::size_t coefficients = 0, source = 0;
};

/// A convolution forward, or backward to its input: out[o][y][x] = bias[o] + the sum over the taps
/// (r, c) of rows[y] x columns[x], and over the channels i of the source, of coefficient (r + c,
/// i, o) * in[i][r + c]. Coefficients are [block][tap][i][o in block], in the blocks of output
/// channels that next_block() makes. The offset of a tap counts coefficients of one output
/// channel.
struct Gather {
  std::vector<std::vector<Tap>> rows, columns;
  std::size_t in_channels = 0, out_channels = 0;
  std::size_t in_plane = 0, out_plane = 0;
  std::size_t taps = 0;  ///< taps of the whole kernel
};

/// The bundles of one group of channels.
template <class Float>
struct Bundles {
  Float* first = nullptr;
  std::size_t stride = 0;
};

/// For one tap, outputs [first, last) of an axis read elements from `source` on, `stride` apart.
struct TapRange {
  std::size_t first = 0, last = 0, source = 0;
};

/// A convolution's backward step to its weight: sums[o][tap][i] += gradient[o][y][x] * in[i][y',
/// x'] by lanes, over the outputs that read (y', x') for the tap. Sums are in the order of Gather's
/// coefficients, 16 for each.
struct WeightSums {
  std::vector<TapRange> rows, columns;            ///< one per tap of the axis
  std::size_t row_stride = 1, column_stride = 1;  ///< of the convolution
  std::size_t in_channels = 0, out_channels = 0;
  std::size_t in_plane = 0, out_plane = 0;
  std::size_t in_width = 0, out_height = 0, out_width = 0;
};

/// A plane [height, width], normalised as y = x * by + plus before the tail.
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

/// The operation between the normalised plane and the activation: none, a sum with another plane,
/// or 2 x 2 max pooling (NaN wins; the first largest value in reading order gets the gradient; an
/// odd last row or column is left out).
enum class Joint : std::uint8_t { none, pool, sum };

/// The activation: none, ReLU, or a clamp to low .. high (ReLU6) with no gradient at the bounds.
enum class Activation : std::uint8_t { none, relu, clamp };

/// What `Tail::sums` reads and writes.
struct TailGradient {
  const float* x = nullptr;  ///< the winners with pooling, else the plane
  const float* out = nullptr;
  const float* gradient = nullptr;
  std::size_t count = 0;  ///< number of outputs
  float mean = 0, low = 0, high = 0;
  float* passed = nullptr;  ///< if given, gets the gradient behind the activation
};

/// The steps after a normalised plane. (The order of pooling and activation does not matter.)
struct Tail {
  /// For pooling, `winners` gets the x whose y became the output; null if not needed.
  void (*forward)(const NormalisedPlane& plane, float* out, float* winners);
  /// Computes, by lanes, the sums over all outputs of the gradient g of y and of (x - mean) g.
  void (*sums)(const TailGradient& of, float* sum, float* product);
  /// With a sum, `gradient` is the one that has passed the activation.
  void (*backward)(const NormalisedPlane& plane, const float* gradient, const PlaneGradient& rule,
                   float* into);
};

/// All loops for one instruction set. They add in the same order everywhere. Products are rounded
/// before addition only if there is no fused operation.
struct LaneKernels {
  std::size_t most_rows = 1;  ///< output channels in the largest block: a power of two
  std::size_t side = 1;       ///< bundles that `gather` processes at a time
  void (*gather)(const Gather& gather, const float* coefficients, const float* bias,
                 Bundles<const float> in, Bundles<float> out, std::size_t count);
  void (*weight_sums)(const WeightSums& plan, const float* in, const float* gradient, float* sums);
  /// sum adds up a plane of `count` positions by lanes; squares adds up (x - about)^2.
  void (*sum)(const float* plane, std::size_t count, float* sum);
  void (*squares)(const float* plane, std::size_t count, const float* about, float* sum);
  /// Convert between 16 rows of `count` floats and [count, 16].
  void (*pack)(const float* const* rows, std::size_t count, float* out);
  void (*unpack)(const float* in, std::size_t count, float* const* rows);
  Tail tails[3][3];  ///< [Joint][Activation]
};

/// The number of output channels in the next block if `left` are left.
inline std::size_t next_block(std::size_t left, std::size_t most) {
  while (most > left) most /= 2;
  return most;
}

MASE_KERNELS(LaneKernels, lane_kernels, avx512);

}  // namespace mase::train
