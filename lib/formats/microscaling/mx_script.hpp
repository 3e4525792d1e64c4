// SPDX-License-Identifier: Apache-2.0
// Pieces of TorchScript text that microscaling formats and nvfp4 share.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "formats/minifloat/minifloat_scalar.hpp"

namespace mase::formats {

/// Text that cuts `x` into blocks and puts their elements back.
struct BlockScript {
  std::string lines;       ///< sets `tiles`, whose dimensions `dimensions` form a block
  std::string dimensions;  ///< those dimensions as a list: "[-1]"
  std::string result;      ///< a `return` of the tensor `q`, which has the shape of `tiles`
};

/// Blocks along a dimension; the last blocks are filled up with zeros.
BlockScript line_script(std::int64_t block_size, int block_dim, int rank);
/// Blocks that are runs of the elements in the order with block_dim last.
BlockScript run_script(std::int64_t block_size, int block_dim, int rank);
/// Blocks that are tiles of the last dimensions.
BlockScript tile_script(std::span<const int> parallelism, int rank);

/// Lines that set `v` to the values of a saturating minifloat (profile exact) next to the float64
/// tensor `y`.
std::string minifloat_lines(const MinifloatSpec& spec);

}  // namespace mase::formats
