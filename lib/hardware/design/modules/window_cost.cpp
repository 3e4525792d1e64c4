// Cost of the window family: registers and memories counted from the parameters, logic per bit of
// counter, address and lane as Yosys maps it.
#include "hardware/design/modules/window_cost.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "hardware/design/handshake/window.hpp"
#include "hardware/design/handshake/window_parallel.hpp"
#include "hardware/design/modules/arithmetic_cost.hpp"

namespace mase::design {
namespace {

/// CARRY4 of an adder; Yosys makes shorter ones of LUTs.
double chain(std::int64_t width) {
  return width < 3 ? 0.0 : static_cast<double>(ceiling(width, 4));
}

bool block_memory(std::int64_t depth, std::int64_t width) {
  return depth > 64 && depth * width > 2048;
}

/// LUT RAM with the selection among its parts; the register behind it is the caller's.
Cost lut_memory(std::int64_t depth, std::int64_t width) {
  const std::int64_t wide = ceiling(depth, 32) * ceiling(width, 6),
                     deep = ceiling(depth, 64) * ceiling(width, 3);
  const std::int64_t parts = wide <= deep ? ceiling(depth, 32) : ceiling(depth, 64);
  Cost cost;
  cost.lut = static_cast<double>(4 * std::min(wide, deep) + (parts > 1 ? width : 0));
  return cost;
}

/// RAMB18 in the shape that needs the fewest.
Cost block_cost(std::int64_t depth, std::int64_t width) {
  constexpr std::array<std::pair<std::int64_t, std::int64_t>, 6> shapes = {
      {{512, 36}, {1024, 18}, {2048, 9}, {4096, 4}, {8192, 2}, {16384, 1}}};
  std::int64_t least = -1, rows = 1;
  for (const auto& [d, w] : shapes) {
    const std::int64_t count = ceiling(depth, d) * ceiling(width, w);
    if (least >= 0 && count >= least) continue;
    least = count;
    rows = ceiling(depth, d);
  }
  Cost cost;
  cost.bram = static_cast<double>(least) / 2;
  cost.lut = rows > 1 ? static_cast<double>(width) : 0;
  return cost;
}

/// window_memory with its output register.
Cost memory_cost(std::int64_t depth, std::int64_t width) {
  if (block_memory(depth, width)) return block_cost(depth, width);
  Cost cost = lut_memory(depth, width);
  cost.ff = static_cast<double>(width);
  return cost;
}

/// Counters that step, wrap and are compared with their ends: `lut` per bit.
template <class Sizes>
Cost counters(const Sizes& states, double lut) {
  Cost cost;
  for (const std::int64_t n : states) {
    cost.lut += lut * static_cast<double>(log2_ceiling(n));
    cost.ff += static_cast<double>(log2_ceiling(n));
    cost.carry += chain(log2_ceiling(n));
  }
  return cost;
}

Cost pick_cost(const WindowShape& s, std::int64_t width) {
  Cost cost = buffer_cost(width);
  if (s.SH > 1 || s.SW > 1) cost += counters(std::array{s.row(), s.H, s.SW * s.CF, s.SH}, 1.3);
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
  cost.carry =
      chain(gap + 1) + chain(room + 1) + 2 * chain(address) + (wraps ? 0.0 : chain(address + 1));
  return cost;
}

/// Requantisation without division and with the output's own range is wires or a rounding; a
/// division multiplies by a constant (see mase_requantise.sv).
Cost requantise_cost(const ModuleParameters& p) {
  const std::int64_t width = p.integer("ACCW");
  std::int64_t odd = p.integer("DIVISOR"), shift = p.integer("SHIFT");
  for (; odd % 2 == 0; odd /= 2) ++shift;
  Cost cost;
  if (shift > 0 && p.integer("ROUND") != 0) {
    cost.lut = static_cast<double>(std::min<std::int64_t>(width, p.integer("OW") + 2));
    cost.carry = chain(width);
  }
  if (odd == 1) return cost;
  // A third of the multiplier's digits is nonzero, each a row of the product.
  const double rows = static_cast<double>(width + 1 + log2_ceiling(odd)) / 3;
  cost.lut += rows * static_cast<double>(width + 3) + 10;
  cost.carry += rows * chain(width + 3);
  return cost;
}

/// Maximum or sum of one lane; `memory`: the partial results lie in LUT RAM.
Cost lane_cost(const ModuleParameters& p, bool memory) {
  const std::int64_t width = p.integer("ACCW");
  const auto bits_of_lane = static_cast<double>(width);
  Cost cost = requantise_cost(p);
  cost.ff += bits_of_lane;
  if (p.integer("OP") != 0) {
    cost.lut += bits_of_lane;
    cost.carry += chain(width);
    return cost;
  }
  // Beside a memory the sign bit of unsigned codes is compared too.
  const std::int64_t compared = memory ? width : p.integer("IW");
  cost.lut += memory ? 1.4 * bits_of_lane + 4 : 0.85 * static_cast<double>(compared);
  if (compared > 6) cost.carry += static_cast<double>(ceiling(compared, 8));
  return cost;
}

Cost lanes_cost(const ModuleParameters& p, std::int64_t depth) {
  const std::int64_t lanes = p.integer("LANES");
  Cost cost = buffer_cost(lanes * p.integer("OW"));
  for (std::int64_t lane = 0; lane < lanes; ++lane) cost += lane_cost(p, depth > 1);
  if (depth > 1) cost += lut_memory(depth, lanes * p.integer("ACCW"));
  cost.ff += 1;
  return cost;
}

}  // namespace

Cost window_cost(const Design&, const Instance& instance) {
  const ModuleParameters& p = instance.parameters;
  const WindowShape s(p);
  const std::int64_t width = p.integer("LANES") * p.integer("DW");
  if (s.picks()) return pick_cost(s, width);
  Cost cost = buffer_cost(width);
  cost += memory_cost(s.depth(), width);
  cost += flow_cost(s);
  cost += counters(std::array{s.CF / s.BLOCKS, s.KW, s.KH, s.BLOCKS, s.out_width(), s.out_height()},
                   2.2);
  cost.lut += s.padded() ? 14 : 7;
  cost.ff += s.padded() ? 3 : 1;
  return cost;
}

Cost window_parallel_cost(const Design&, const Instance& instance) {
  const ModuleParameters& p = instance.parameters;
  const RasterShape s(p);
  const std::int64_t pixel = p.integer("LANES") * p.integer("DW"), lines = (s.KH - 1) * pixel;
  const std::int64_t window = s.KH * s.KW * pixel, width = s.width(), height = s.height();
  Cost cost = buffer_cost(window);
  cost.ff += static_cast<double>(window);
  if (s.KH > 1 && width > 1)
    cost += memory_cost(width, lines);
  else
    cost.ff += static_cast<double>(lines);
  cost += counters(
      std::array{width, height, width, height, s.KH > 1 ? width : 1, s.lag() + 2, s.SH, s.SW}, 1.3);
  cost.lut += 5;
  cost.ff += 3;
  return cost;
}

Cost pool_cost(const Design&, const Instance& instance) {
  const ModuleParameters& p = instance.parameters;
  const std::int64_t h = p.integer("H"), w = p.integer("W"), beats = p.integer("CF");
  const std::int64_t kh = p.integer("KH"), kw = p.integer("KW");
  const std::int64_t depth = kh * kw == 1 ? 1 : kh == 1 ? beats : w / kw * beats;
  Cost cost = lanes_cost(p, depth);
  cost += counters(
      std::array{beats, kw, kh, w > kw ? w : 1, h % kh != 0 ? h : 1, kh > 1 ? depth : 1}, 1.3);
  cost.lut += 3;
  return cost;
}

Cost reduce_cost(const Design&, const Instance& instance) {
  Cost cost = lanes_cost(instance.parameters, 1);
  cost += counters(std::array{instance.parameters.integer("N")}, 1.3);
  return cost;
}

}  // namespace mase::design
