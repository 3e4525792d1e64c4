// SPDX-License-Identifier: Apache-2.0
// Resources and delays from what Yosys prints.
#pragma once

#include <optional>
#include <string>

#include "hardware/design/cost.hpp"

namespace mase::emit {

/// Resources of the module `top` in the JSON of Yosys's `stat` after a synthesis for `family`
/// ("xc7", "ice40", "ecp5"). xc7: LUTs used as memory and shift registers count as LUTs, wide
/// multiplexers and inverters as nothing; a RAMB18 is half a block. ecp5: a carry cell is two LUTs.
design::Cost cost_of_stat(const std::string& json, const std::string& top,
                          const std::string& family);

/// Length in the output of `ltp`.
std::optional<std::int64_t> depth_of_ltp(const std::string& text);

/// The longest way between registers through a netlist.
struct LongestPath {
  double ns = 0;         ///< delays of cells, without those of wires
  std::string instance;  ///< of the top, in which it ends, or the nearest before; "" for none
};
/// The longest path in the output of `sta` for a flattened netlist, if a path has delays.
std::optional<LongestPath> path_of_sta(const std::string& text);

}  // namespace mase::emit
