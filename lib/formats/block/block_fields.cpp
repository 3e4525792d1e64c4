// SPDX-License-Identifier: Apache-2.0
// Checks the shape of blocks.
#include "formats/block/block_fields.hpp"

#include <algorithm>

namespace mase::formats {

void BlockFields::check_block_fields(const Tree& given, Diagnostics& diagnostics) const {
  if (std::find(block_size.begin(), block_size.end(), 0) != block_size.end())
    diagnostics.error(place_of(given, "block_size"),
                      "a block of 0 elements; use 1 or more, or -1 for the whole dimension");
  check_common(given, false, diagnostics);
}

Tiling BlockFields::tiling(const Shape& shape, bool default_skip) const {
  return block_tiling(shape, block_size, skip_first_dim.value_or(default_skip), max_rank);
}

int BlockFields::merged_rank(int rank) const {
  return std::max(1, std::min(rank, max_rank.value_or(rank)));
}

bool BlockFields::adds_zero(int rank, bool default_skip) const {
  const int merged = merged_rank(rank);
  return merged == 3 || (merged == 2 && !skip_first_dim.value_or(default_skip));
}

void BlockFields::check_block_shape(const Shape& shape, bool default_skip) const {
  if (profile_value() != Profile::reference) return;
  const int rank = merged_rank(static_cast<int>(shape.size()));
  const std::string tensor = "profile 'reference' refuses a tensor " + shape_text(shape);
  if (rank == 1 && skip_first_dim.value_or(false))
    config_error(tensor + " with skip_first_dim = true; set it to false or use profile 'exact'");
  if (rank == 3 && !skip_first_dim.value_or(default_skip))
    config_error(tensor + " with skip_first_dim = false; set it to true or use profile 'exact'");
  if (rank >= 4)
    config_error(tensor + "; set max_rank = 3 to merge leading dimensions or use profile 'exact'");
}

}  // namespace mase::formats
