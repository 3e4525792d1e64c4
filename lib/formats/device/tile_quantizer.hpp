// SPDX-License-Identifier: Apache-2.0
// Chooses the kernel of a block format.
#pragma once

#include <optional>

#include "formats/device/device_table.hpp"
#include "formats/tiling.hpp"

namespace mase::formats {

/// The tiles, without their rule, when they are blocks along the last dimension; otherwise nullopt.
std::optional<kernels::DeviceTiles> device_tiles(const Tiling& tiling);

/// The quantizer of a row of the table.
template <class Grid>
DeviceQuantizer tile_quantizer(
    ByRounding<kernels::OnDeviceTiles<Grid>> kernels::TileKernels::*kernels, Rounding rounding,
    const Grid& grid, const kernels::DeviceTiles& tiles, Seed seed) {
  return [=](const kernels::DeviceKernels& table, const DeviceSpan& span) {
    return (table.tiles->*kernels)[rounding](grid, tiles, seed, span);
  };
}

}  // namespace mase::formats
