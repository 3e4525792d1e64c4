// SPDX-License-Identifier: Apache-2.0
// The grids of block kernels.
#include "formats/block/block_kernels.hpp"

namespace mase::formats::kernels {

BlockMinifloatGrid block_minifloat_grid(const MinifloatSpec& scaled) {
  return {minifloat_grid(scaled), minifloat_code_grid(scaled)};
}

}  // namespace mase::formats::kernels
