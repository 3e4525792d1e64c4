// SPDX-License-Identifier: Apache-2.0
// Paths that several modules have.
#include "hardware/design/modules/paths.hpp"

#include <algorithm>
#include <cmath>

namespace mase::design {

double tree_luts(std::int64_t inputs, const Technology& technology) {
  double levels = 0;
  for (std::int64_t reach = 1; reach < inputs; reach *= technology.lut_inputs) ++levels;
  return levels;
}

double choice_luts_deep(std::int64_t words, const Technology& technology) {
  return tree_luts(words + log2_ceiling(words), technology);
}

Blocks blocks_of(std::int64_t width, std::int64_t depth, const Technology& technology) {
  Blocks least;
  for (const std::int64_t lanes : {1, 2, 4, 9, 18, 36}) {  // a ninth bit is parity
    const std::int64_t words = technology.block_bits / (lanes - lanes / 9);
    const Blocks made{ceiling(width, lanes) * ceiling(depth, words), ceiling(depth, words)};
    if (least.count == 0 || made.count < least.count) least = made;
  }
  return least;
}

Path counter_path(std::int64_t states, const Technology& technology) {
  const int bits = log2_ceiling(states);
  return {.what = "counter",
          .luts = 1 + tree_luts(bits + 1, technology),
          .chains = carry_chain(bits) > 0 ? 1.0 : 0.0,
          .carry = static_cast<double>(bits),
          .readers = static_cast<double>(bits)};
}

Path choice_path(std::int64_t pieces, std::int64_t bits, const Technology& technology) {
  return {.what = "choice",
          .luts = 1 + choice_luts_deep(pieces, technology),
          .readers = static_cast<double>(bits)};
}

Path rom_path(std::int64_t width, std::int64_t depth, bool block, const Technology& technology) {
  if (block) return {.what = "words of a memory", .from = Source::memory};
  if (depth < 2) return {.what = "table"};
  const std::int64_t address = log2_ceiling(depth), beyond = address - technology.lut_inputs;
  return {.what = "table",
          .luts = 1 + std::max(0.0, technology.rom_bit * static_cast<double>(beyond)),
          .readers = static_cast<double>(width)};
}

Path memory_path(std::int64_t width, std::int64_t depth, bool block, const Technology& technology) {
  if (block || depth < 2) return rom_path(width, depth, block, technology);
  const std::int64_t parts = ceiling(depth, std::int64_t{1} << technology.lut_inputs);
  return {.what = "address of LUT RAM",
          .luts = 1 + (parts > 1 ? choice_luts_deep(parts, technology) : 0),
          .readers = static_cast<double>(width * parts)};
}

Path adder_path(std::string_view what, std::int64_t bits) {
  return {.what = what, .chains = 1, .carry = static_cast<double>(bits)};
}

Path product_path(int a, int b, std::int64_t multiplier) {
  if (multiplier != 2 && dsp_blocks(a, b, a + b) > 0)
    return {.what = "product", .from = Source::multiplier, .far = 1};
  const auto rows = static_cast<double>(ceiling(std::min(a, b), 2));
  return {.what = "product", .luts = 1, .chains = rows, .carry = a + b + 0.0};
}

Path summand_path(const Path& product, std::int64_t bits) {
  Path sum = adder_path("sum", bits);
  sum.from = product.from;
  sum.far = product.far / 2;
  return sum;
}

Path rounding_path(const Requantisation& requantisation, Width width, const Technology& technology,
                   bool halved) {
  const Rounding rounding = rounding_of(requantisation, width, halved);
  const double bits = rounding.sum;
  Path path{.what = "rounding", .readers = static_cast<double>(requantisation.out_bits)};
  if (rounding.adds || rounding.compares) {
    const int chains = rounding.late && rounding.compares ? 2 : 1;
    path.chains += chains;
    path.carry += chains * bits;
  }
  if (rounding.digits > 1) {
    // The dividend, rows of a product that become two by threes, their sum, and what is left over.
    const double levels = std::ceil(std::log(rounding.digits / 2) / std::log(1.5));
    path.luts += 1 + std::max(0.0, levels);
    path.chains += 3;
    path.carry += 3 * bits + rounding.digits;
  }
  path.luts += std::max(tree_luts(rounding.decides, technology), 1.0);
  return path;
}

}  // namespace mase::design
