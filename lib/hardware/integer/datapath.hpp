// SPDX-License-Identifier: Apache-2.0
// From number formats to integer datapaths: the seam where further formats join. A format has a
// datapath when the table has a row for it that turns its fields into a grid of codes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.hpp"
#include "hardware/integer/fixed.hpp"
#include "hardware/integer/levels.hpp"

namespace mase::integer {

/// Codes c = clamp(round(x * 2^frac), low, high) with value c * 2^-frac; with levels those of them
/// that an element format has, rounded as it says. Numbers in blocks have no grid of their own: as
/// the grid of a result that no code holds, `type` is the deciding one (block_levels.hpp).
struct Grid {
  FixedType type;
  formats::Rounding rounding = formats::Rounding::nearest_even;
  std::shared_ptr<const Levels> levels = nullptr;
  std::optional<formats::Format> blocks = std::nullopt;  ///< a format whose blocks share exponents
};

/// The grid of codes that are levels.
Grid grid_of_levels(std::shared_ptr<const Levels> levels);

/// The grid as a format is written: "integer(8, 4)", or the text of its levels' format.
std::string format_text(const Grid& grid);

/// One format name: how its fields become a grid.
struct DatapathRow {
  std::string_view format;
  /// Error(Fault::unsupported) with what would work when the fields have no datapath.
  Grid (*grid)(const formats::Format& format);
  bool has_levels = false;  ///< an element format, whose grid has levels, or one of blocks
};
const std::vector<DatapathRow>& datapath_table();

/// The grid of a format; Error(Fault::unsupported) naming the formats that have a datapath, or for
/// one with fraction bits of its own for every channel.
Grid grid_of(const formats::Format& format);

/// Whether the grid of a format has levels or blocks, so that only few of its codes are numbers.
bool rounds_to_levels(const formats::Format& format);

/// The grid of weights, whose channels may have fraction bits of their own.
struct WeightGrid {
  Grid grid;               ///< `type.frac` is the least of all channels
  std::vector<int> fracs;  ///< of the channels; empty: that of the grid for all, as for equal ones
};
WeightGrid weight_grid_of(const formats::Format& format);

}  // namespace mase::integer
