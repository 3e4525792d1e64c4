// Elements of microscaling formats in float32: scaled to the element format, rounded, and scaled
// back or encoded, for each instruction set (profile exact).
#pragma once

#include "formats/block/block_strip.hpp"
#include "formats/minifloat/minifloat_kernel.hpp"

namespace mase::formats::kernels {

/// The two factors of a tile: elements are multiplied by the first before they are rounded, and by
/// the second afterwards. A NaN as the second makes the tile NaN, and its codes 0.
enum MxFactor : std::size_t { mx_down, mx_up, mx_factor_count };

/// An element format as float32 numbers.
struct MxGrid {
  bool is_integer = false;
  // Integers: an element is M = rounded(scaled * to_integer), cut off at +-limit.
  float to_integer = 1, limit = 1;
  std::int32_t code_mask = 0;  ///< the bits of an integer's code
  // Minifloats, all of them narrow enough to fit_one_addition.
  MinifloatGrid minifloat;
  MinifloatCodeGrid minifloat_codes;
};

/// Writes the values, or the codes' bits, of a strip's elements; or of runs, and returns how many
/// tiles are done (block_runs.hpp).
struct MxKernel {
  void (*on_strip)(const MxGrid& grid, const Strip& strip, const TileFactors& factors);
  std::size_t (*on_runs)(const MxGrid& grid, const PowerRule& rule, const Runs& runs);
  /// With the scales of nvfp4; minifloats only.
  std::size_t (*on_nvfp4_runs)(const MxGrid& grid, float tensor_scale, const Runs& runs);
};

/// What a kernel does.
struct MxKernelChoice {
  bool is_integer = false;
  bool encodes = false;
  Rounding rounding = Rounding::nearest_even;
};

/// The kernel of a deterministic rounding. All sets give the same bits.
MxKernel mx_kernel(Isa isa, const MxKernelChoice& choice);

/// Turns the peaks of nvfp4 blocks (NaN: the block is) into nvfp4_block_scale in place and the
/// first of nvfp4_factors, the same bits. Whole vectors: up to 15 numbers after `count` change too.
using Nvfp4Kernel = void (*)(float tensor_scale, std::size_t count, float* down, float* scales);
inline constexpr std::size_t nvfp4_padding = 16;
Nvfp4Kernel nvfp4_kernel(Isa isa);

// One function per instruction set, called by the two above only.
MxKernel mx_kernel_portable(const MxKernelChoice& choice);
MxKernel mx_kernel_avx2(const MxKernelChoice& choice);
MxKernel mx_kernel_avx512(const MxKernelChoice& choice);
Nvfp4Kernel nvfp4_kernel_portable();
Nvfp4Kernel nvfp4_kernel_avx2();
Nvfp4Kernel nvfp4_kernel_avx512();

}  // namespace mase::formats::kernels
