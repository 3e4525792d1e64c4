// SPDX-License-Identifier: Apache-2.0
// Finds out whether tiles lie along the last dimension.
#include "formats/device/tile_quantizer.hpp"

#include "formats/bands.hpp"

namespace mase::formats {

std::optional<kernels::DeviceTiles> device_tiles(const Tiling& tiling) {
  const Bands bands(tiling);
  if (bands.most_rows() != 1) return std::nullopt;
  return kernels::DeviceTiles{bands.columns(), bands.tile(), {}};
}

}  // namespace mase::formats
