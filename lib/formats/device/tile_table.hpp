// SPDX-License-Identifier: Apache-2.0
// The table of CUDA's kernels for blocks along the last dimension.
#pragma once

#include <cstdint>

#include "formats/block/block_kernels.hpp"
#include "formats/device_span.hpp"
#include "formats/fast_exponent.hpp"
#include "formats/microscaling/mx_kernel.hpp"
#include "formats/seed.hpp"

namespace mase::formats::kernels {

/// How a tile's peak scales its elements: down by 2^(down - X), and up by 2^(X + up).
struct TileRule {
  PowerRule power;        ///< for the peaks that it covers
  FastExponent exponent;  ///< X for all others
  int zero = 0;           ///< X of a tile without any finite number but 0
  int down = 0, up = 0;
  bool has_nan = false;  ///< a tile that is not finite becomes NaN
};

/// Rows that follow one another, each of which is cut into tiles; the last tile may be short.
struct DeviceTiles {
  std::size_t row = 1, tile = 1;
  TileRule rule;
};

/// Starts a kernel, like OnDevice.
template <class Grid>
using OnDeviceTiles = const char* (*)(const Grid& grid, const DeviceTiles& tiles, Seed seed,
                                      const DeviceSpan& span);

/// All kernels of blocks, profile exact.
struct TileKernels {
  ByRounding<OnDeviceTiles<BlockFpGrid>> block_fp;
  ByRounding<OnDeviceTiles<BlockMinifloatGrid>> block_minifloat;
  ByRounding<OnDeviceTiles<LogGrid>> block_log;
  ByRounding<OnDeviceTiles<MxGrid>> mx_integer, mx_minifloat;
};
extern const TileKernels tile_kernels_on_device;

}  // namespace mase::formats::kernels
