// SPDX-License-Identifier: Apache-2.0
// Elements of microscaling formats in float32: scaled to the element format, rounded, and scaled
// back or encoded, for each instruction set (profile exact).
#pragma once

#include "formats/block/block_strip.hpp"
#include "formats/minifloat/minifloat_kernel.hpp"

namespace mase::formats::kernels {

/// The two factors of a tile: elements are multiplied by the first before they are rounded, and by
/// the second afterwards. If the second is NaN, the tile becomes NaN and its codes 0.
enum MxFactor : std::size_t { mx_down, mx_up, mx_factor_count };

/// An element format as float32 numbers.
struct MxGrid {
  bool is_integer = false;
  // Integers: an element is M = rounded(scaled * to_integer), cut off at +-limit.
  float to_integer = 1, limit = 1;
  std::int32_t code_mask = 0;  ///< mask of the bits of an integer's code
  // Minifloats, all of them narrow enough to fit_one_addition.
  MinifloatGrid minifloat;
  MinifloatCodeGrid minifloat_codes;
};

/// Writes the values, or the bits of codes, for a strip; or for runs (block_runs.hpp) or columns
/// (block_columns.hpp), and returns the number of elements or columns done.
struct MxKernel {
  void (*on_strip)(const MxGrid& grid, const Strip& strip, const TileFactors& factors);
  std::size_t (*on_runs)(const MxGrid& grid, const PowerRule& rule, const Runs& runs);
  std::size_t (*on_columns)(const MxGrid& grid, const PowerRule& rule, const Strip& strip);
};

/// The kernels that write values and those that write bits of codes. All sets give the same bits.
struct MxKernels {
  ByRounding<MxKernel> values, codes;
};
MASE_KERNELS(MxKernels, mx_integer_kernels, avx512);
MASE_KERNELS(MxKernels, mx_minifloat_kernels, avx512);

/// Turns the peaks of nvfp4 blocks (NaN for a NaN block) into nvfp4_block_scale, in place, and into
/// the first of nvfp4_factors, with the same bits. Up to 15 numbers after `count` may change, too.
using Nvfp4Scaling = void (*)(float tensor_scale, std::size_t count, float* down, float* scales);
inline constexpr std::size_t nvfp4_padding = 16;

/// Like MxKernel, with the scales of nvfp4; elements are minifloats.
struct Nvfp4Kernel {
  std::size_t (*on_runs)(const MxGrid& grid, float tensor_scale, const Runs& runs);
  std::size_t (*on_columns)(const MxGrid& grid, float tensor_scale, const Strip& strip);
};

struct Nvfp4Kernels {
  Nvfp4Scaling scaling;
  ByRounding<Nvfp4Kernel> values, codes;  ///< the same outputs as in MxKernels
};
MASE_KERNELS(Nvfp4Kernels, nvfp4_kernels, avx512);

}  // namespace mase::formats::kernels
