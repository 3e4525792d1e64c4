// SPDX-License-Identifier: Apache-2.0
// The window family of hardware modules: rows and costs. Registers and memories are counted from
// the parameters; logic per bit of counter, address and lane was fitted over realistic shapes.
#include <algorithm>
#include <array>
#include <bit>

#include "hardware/design/module_table.hpp"
#include "hardware/design/modules/argmax.hpp"
#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/pool.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/modules/reduce.hpp"
#include "hardware/design/modules/row_reduce.hpp"
#include "hardware/design/timing/handshake/window.hpp"
#include "hardware/design/timing/handshake/window_parallel.hpp"

namespace mase::design {
namespace {

/// hw_templates/window/mase_window_memory with its output register.
Cost ring_cost(std::int64_t width, std::int64_t depth) {
  if (window_in_block.holds(width, depth)) return block_memory_cost(width, depth);
  Cost cost = lut_memory_cost(width, depth);
  cost.ff = static_cast<double>(width);
  return cost;
}

Cost pick_cost(const WindowShape& s, std::int64_t width) {
  Cost cost = skid_cost(width);
  const bool all = s.SH == 1 && s.SW == 1 && s.OH == s.H && s.OW == s.W;
  if (!all) cost += counters_cost(std::array{s.row(), s.H, s.SW * s.CF, s.SH});
  return cost;
}

/// The two signed distances and the two addresses of the ring.
Cost flow_cost(const WindowShape& s) {
  const std::int64_t depth = s.depth(), address = log2_ceiling(depth);
  const bool wraps = std::has_single_bit(static_cast<std::uint64_t>(depth));
  const std::int64_t gap = log2_ceiling(s.gap() + 1) + 1,
                     room = log2_ceiling(depth + s.frame() + 1) + 1;
  Cost cost;
  cost.lut = 0.25 * static_cast<double>(gap + room) +
             1.63 * static_cast<double>(wraps ? address : 3 * address);
  cost.ff = static_cast<double>(gap + room + 2 * address);
  cost.carry = carry_chain(gap + 1) + carry_chain(room + 1) + 2 * carry_chain(address) +
               (wraps ? 0.0 : carry_chain(address + 1));
  return cost;
}

Cost window_cost(const Design&, const Instance& instance) {
  const ModuleParameters& p = instance.parameters;
  const WindowShape s(p);
  const std::int64_t width = p.integer("LANES") * p.integer("DW");
  if (s.picks()) return pick_cost(s, width);
  Cost cost = skid_cost(width);
  cost += ring_cost(width, s.depth());
  cost += flow_cost(s);
  cost += counters_cost(std::array{s.CF / s.BLOCKS, s.KW, s.KH, s.BLOCKS, s.OW, s.OH}, 2.2);
  cost.lut += s.padded() ? 22 : 15;
  // What depends on the place is in registers, and so are words of block memories.
  cost.ff += s.padded() ? 17 : 15;
  if (window_in_block.holds(width, s.depth())) cost.ff += static_cast<double>(width);
  return cost;
}

/// The taps of each row, and what keeps the beats between them.
Cost row_cost(const RasterShape& s, std::int64_t beat) {
  const std::int64_t gap = s.DX * s.CF, kept = s.KH * (s.KW - 1) * beat;
  const bool memory = s.KW > 1 && gap > 2;
  Cost cost;
  cost.ff = static_cast<double>(s.KH * beat + kept * (memory ? 1 : gap));
  if (!memory) return cost;
  cost += ring_cost(kept, gap - 1);
  cost += counter_cost(gap - 1);
  cost.ff += log2_ceiling(gap - 1);  // the next address
  return cost;
}

/// The rows before the one that enters; block memory has a register behind it.
Cost lines_cost(std::int64_t width, std::int64_t depth) {
  Cost cost;
  cost.ff = static_cast<double>(width);
  if (depth == 1 || width == 0) return cost;
  if (window_in_block.holds(width, depth))
    cost += block_memory_cost(width, depth - 1);
  else
    cost += lut_memory_cost(width, depth);
  cost += counter_cost(depth);
  cost.ff += log2_ceiling(depth);  // the next address
  return cost;
}

Cost window_parallel_cost(const Design&, const Instance& instance) {
  const ModuleParameters& p = instance.parameters;
  const RasterShape s(p);
  const std::int64_t beat = p.integer("LANES") * p.integer("DW"), lines = (s.reach_y() - 1) * beat;
  const std::int64_t width = s.width(), height = s.height(), line = width * s.CF;
  Cost cost = skid_cost(s.KH * s.KW * beat);
  cost += row_cost(s, beat);
  cost += lines_cost(lines, line);
  cost += counters_cost(
      std::array{width, height, width, height, s.lag() * s.CF + 2, s.SH, s.SW, s.CF, s.CF});
  cost.lut += 5;
  cost.ff += 3;
  return cost;
}

}  // namespace

std::vector<ModuleRow> window_modules() {
  using List = std::vector<std::string>;
  const List in{"in"}, out{"out"};
  return {
      {.name = "mase_window_memory", .folder = "window", .doc = "memory of the windows"},
      {.name = "mase_window_pick",
       .folder = "window",
       .doc = "windows of one pixel",
       .uses = {"mase_skid"}},
      {.name = "mase_window",
       .folder = "window",
       .doc = "sliding window, a beat a cycle",
       .uses = {"mase_skid", "mase_window_memory", "mase_window_pick"},
       .inputs = in,
       .outputs = out,
       .handshake = make_window_handshake,
       .cost = window_cost,
       .paths = window_paths},
      {.name = "mase_window_parallel",
       .folder = "window",
       .doc = "sliding window, a whole window a cycle",
       .uses = {"mase_skid", "mase_window_memory"},
       .inputs = in,
       .outputs = out,
       .handshake = make_window_parallel_handshake,
       .cost = window_parallel_cost,
       .paths = window_parallel_paths},
      PoolModule::row(),
      ReduceModule::row(),
      RowReduceModule::row(),
      ArgmaxModule::row(),
  };
}

}  // namespace mase::design
