// SPDX-License-Identifier: Apache-2.0
// The table of CUDA's kernels, each of which has a format's numbers as processors' kernels have.
#pragma once

#include <cstdint>

#include "formats/device/tile_table.hpp"
#include "formats/device_span.hpp"
#include "formats/fixed/integer_kernel.hpp"
#include "formats/low_bit/three_way_kernel.hpp"
#include "formats/minifloat/log_kernel.hpp"
#include "formats/minifloat/minifloat_kernel.hpp"

namespace mase::formats::kernels {

/// Starts a kernel; returns the text of CUDA's error, or null. `seed` is that of
/// stochastic rounding.
template <class Grid>
using OnDevice = const char* (*)(const Grid& grid, Seed seed, const DeviceSpan& span);

/// All kernels; they give the bits of those for processors, except the payload of a NaN.
struct DeviceKernels {
  // Profile exact, unless the name says otherwise.
  ByRounding<OnDevice<IntegerGrid>> integer;
  OnDevice<IntegerGrid> reference_integer, reference_integer_floor;
  ByRounding<ByMinifloatRange<OnDevice<MinifloatGrid>>> minifloat;
  ByMinifloatDraw<OnDevice<MinifloatGrid>> drawn_minifloat;
  ByRounding<OnDevice<LogGrid>> log;
  OnDevice<ThreeWay> three_way, drawn_sign;
  const TileKernels* tiles;
};

}  // namespace mase::formats::kernels
