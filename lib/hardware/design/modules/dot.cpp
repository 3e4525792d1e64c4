// SPDX-License-Identifier: Apache-2.0
// Costs of dot products, in Booth rows and in the tool's multipliers.
#include "hardware/design/modules/dot.hpp"

#include <algorithm>

#include "hardware/design/modules/primitives.hpp"

namespace mase::design {
namespace {

/// One digit of all lanes: chains of four rows, then a tree. See
/// hw_templates/matrix/mase_booth_column.
Cost column_cost(std::int64_t lanes, int a, int most) {
  const auto width = [&](std::int64_t count) {
    return std::min(most, a + 1 + log2_ceiling(std::min(count, lanes)));
  };
  Cost cost;
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    const std::int64_t row = lane % 4;
    if (row == 0) cost.lut += width(1);
    if (row != 0) cost += carry_adder_cost(width(row + 1));
  }
  cost += chain_tree_cost(lanes, width);
  return cost;
}

/// hw_templates/matrix/mase_dot with Booth rows.
Cost dot_booth_cost(const DotShape& shape) {
  const bool digits_of_b = (shape.b + 1) / 2 * (shape.a + 2) <= (shape.a + 1) / 2 * (shape.b + 2);
  const int rows = digits_of_b ? shape.a : shape.b, bits = digits_of_b ? shape.b : shape.a;
  const int growth = log2_ceiling(shape.lanes), digits = (bits + 1) / 2;
  const int sum = std::min(shape.sum, shape.a + shape.b + growth);
  const auto width = [&](int from, int count) {
    return std::min(rows + 2 * count - (count == 1 ? 1 : 0) + growth, sum - 2 * from);
  };
  Cost cost;
  for (int k = 0; k < digits; ++k) cost += column_cost(shape.lanes, rows, width(k, 1) + 2);
  for (int span = 2; span < 2 * digits; span *= 2)
    for (int from = 0; from + span / 2 < digits; from += span)
      cost += carry_adder_cost(width(from, std::min(span, digits - from)) - span);
  cost.ff += sum + 1;
  return cost;
}

/// The tree of adders of dot_multiply over its chains, with registers after each.
Cost chains_cost(std::int64_t chains, int first, int most) {
  Cost cost;
  for (int bits = first; chains > 1; chains = ceiling(chains, 2)) {
    bits = std::min(most, bits + 1);
    const std::int64_t pairs = chains / 2;
    cost += scaled(adder_cost(bits), static_cast<double>(pairs));
    cost.ff += static_cast<double>(ceiling(chains, 2) * bits);
  }
  return cost;
}

/// hw_templates/matrix/mase_dot with the tool's multipliers.
Cost dot_multiply_cost(const DotShape& shape) {
  const int product = std::min(shape.a + shape.b, shape.sum);
  const int sum = std::min(product + log2_ceiling(shape.lanes), shape.sum);
  const std::int64_t blocks = dsp_blocks(shape.a, shape.b, product);
  const auto lanes = static_cast<double>(shape.lanes);
  Cost cost;
  cost.dsp = lanes * static_cast<double>(blocks);
  cost.ff = static_cast<double>(shape.stages * sum);
  if (blocks == 0) {
    cost.lut += lanes * product_luts(shape.a, shape.b);
    cost += scaled(adder_cost(sum), lanes - 1);
    cost.ff += lanes * product + sum;
    return cost;
  }
  // Sums of up to eight lanes stand in the DSP blocks.
  const std::int64_t chains = ceiling(shape.lanes, 8);
  cost += chains_cost(chains, std::min(product + 3, sum), sum);
  if (blocks > 1) cost += scaled(adder_cost(product), lanes * static_cast<double>(blocks - 1));
  return cost;
}

/// What tells an upper sum modulo 2^known, and takes off what the field below carries over.
Cost known_cost(const DotShape& shape, int known, int sum) {
  const auto lanes = static_cast<double>(shape.lanes);
  Cost cost{.lut = lanes * fitted.known[static_cast<std::size_t>(known)],
            .ff = fitted.known_registers * known * lanes};
  cost.ff += static_cast<double>(shape.stages * known);
  if (known < 2) return cost;
  if (known > 2) cost.carry = fitted.known_carry * lanes;
  cost += adder_cost(sum);
  cost.ff += shape.sum;
  return cost;
}

/// hw_templates/matrix/mase_dot_packed of `count` outputs.
Cost dot_packed_cost(const DotShape& shape, std::int64_t count, const Packs& packs) {
  if (count == 1) return dot_multiply_cost(shape);
  const auto lanes = static_cast<double>(shape.lanes), above = static_cast<double>(count - 1);
  const int sum = std::min(shape.a + shape.b + log2_ceiling(shape.lanes), shape.sum);
  const int below = static_cast<int>(count - 1) * packs.pitch;
  Cost cost{.ff = static_cast<double>(shape.stages * (below + sum)), .dsp = lanes};
  cost += chains_cost(ceiling(shape.lanes, 8), std::min(below + shape.a + shape.b + 3, below + sum),
                      below + sum);
  // The adder in front of the multiplier adds the lowest weight.
  cost += scaled(adder_cost(shape.b + 1), lanes * (above - 1));
  cost += scaled(known_cost(shape, packs.known, sum), above);
  if (packs.known > 1) cost.ff += shape.sum;
  if (packs.known < 2) cost.carry += above;
  return cost;
}

}  // namespace

Cost chain_tree_cost(std::int64_t lanes, const std::function<int(std::int64_t)>& width) {
  std::int64_t nodes = ceiling(lanes, 4);
  const int levels = log2_ceiling(nodes);
  Cost cost{.ff = static_cast<double>(nodes) * (width(4) + 1)};
  for (int level = 1; level <= levels; ++level) {
    const std::int64_t pairs = nodes / 2;
    cost += scaled(carry_adder_cost(width(std::int64_t{4} << level)), static_cast<double>(pairs));
    nodes = ceiling(nodes, 2);
    if (level % 2 == 1 || level == levels)
      cost.ff += static_cast<double>(nodes) * (width(std::int64_t{4} << level) + 1);
  }
  return cost;
}

Cost dot_cost(const DotShape& shape, bool booth) {
  if (shape.a_code || shape.b_code) return dot_float_cost(shape);
  return booth ? dot_booth_cost(shape) : dot_multiply_cost(shape);
}

Cost dots_packed_cost(const DotShape& shape, std::int64_t readers, const Packs& packs) {
  const std::int64_t left = readers % packs.outputs;
  Cost cost = scaled(dot_packed_cost(shape, packs.outputs, packs),
                     static_cast<double>(readers / packs.outputs));
  if (left > 0) cost += dot_packed_cost(shape, left, packs);
  return cost;
}

}  // namespace mase::design
