// SPDX-License-Identifier: Apache-2.0
// Paths of window modules.
#include <algorithm>
#include <bit>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/timing/handshake/window.hpp"
#include "hardware/design/timing/handshake/window_parallel.hpp"

namespace mase::design {

Paths window_paths(const Instance& instance, const Technology& technology) {
  const ModuleParameters& p = instance.parameters;
  const WindowShape s(p);
  if (s.picks()) {
    Path place = counter_path(s.row(), technology);
    place.luts += 1;
    return {place};
  }
  const std::int64_t depth = s.depth(), address = log2_ceiling(depth),
                     width = p.integer("LANES") * p.integer("DW");
  const bool wraps = std::has_single_bit(static_cast<std::uint64_t>(depth));
  const std::int64_t room = log2_ceiling(depth + s.frame() + 1) + 1;
  Path flow{.what = "room", .luts = 2, .chains = 1, .carry = static_cast<double>(room)};
  flow.readers = static_cast<double>(2 * room + 4 * address);
  Path place{.what = "address", .luts = wraps ? 1.0 : 2.0, .chains = 1};
  place.carry = static_cast<double>(address);
  place.readers = static_cast<double>(address);
  const std::int64_t loops = log2_ceiling(s.CF / s.BLOCKS) + log2_ceiling(s.KW) +
                             log2_ceiling(s.KH) + log2_ceiling(s.BLOCKS) + log2_ceiling(s.OW) +
                             log2_ceiling(s.OH);
  Path ends{.what = "ends of the loops", .luts = 1 + tree_luts(loops, technology)};
  ends.readers = static_cast<double>(room + address);
  return {flow, place, ends,
          memory_path(width, depth, window_in_block.holds(width, depth), technology)};
}

Paths window_parallel_paths(const Instance& instance, const Technology& technology) {
  const ModuleParameters& p = instance.parameters;
  const RasterShape s(p);
  Path place = counter_path(s.width() * s.CF, technology);
  place.luts += 1;
  const std::int64_t beat = p.integer("LANES") * p.integer("DW");
  Path masked{.what = "padding", .luts = 2, .readers = static_cast<double>(beat * s.KH)};
  const std::int64_t lines = (s.reach_y() - 1) * beat, line = s.width() * s.CF;
  if (lines == 0 || line == 1) return {place, masked};
  return {place, masked, memory_path(lines, line, window_in_block.holds(lines, line), technology)};
}

}  // namespace mase::design
