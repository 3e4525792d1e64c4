// Adders, memories, dot products and rounding in LUTs, carry chains, DSP blocks and block memory.
#include "hw/modules/arithmetic_cost.hpp"

#include <algorithm>
#include <cmath>

namespace mase::hw {

std::int64_t ceiling(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

int log2_ceiling(std::int64_t value) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < value) ++bits;
  return bits;
}

Cost scaled(const Cost& cost, double count) {
  return {cost.lut * count, cost.ff * count, cost.carry * count, cost.dsp * count,
          cost.bram * count};
}

Cost adder_cost(double bits) { return {.lut = bits, .carry = std::ceil(bits / 4)}; }

namespace {

/// RAMB36 of a memory; a RAMB18 is 512 x 36, 1024 x 18, 2048 x 9, 4096 x 4, 8192 x 2, 16384 x 1.
double block_memory(std::int64_t width, std::int64_t depth) {
  std::int64_t best = -1, words = 512;
  for (const std::int64_t bits : {36, 18, 9, 4, 2, 1}) {
    const std::int64_t count = ceiling(width, bits) * ceiling(depth, words);
    if (best < 0 || count < best) best = count;
    words *= 2;
  }
  return static_cast<double>(best) / 2;
}

}  // namespace

Cost rom_cost(std::int64_t width, std::int64_t depth) {
  if (depth >= 8 && width * depth >= 1024) return {.bram = block_memory(width, depth)};
  if (depth == 1) return {};
  // Columns of random bits: equal ones are merged, those of two words need no LUT.
  const double kinds = std::exp2(static_cast<double>(std::min<std::int64_t>(depth, 40)));
  const double distinct = kinds * -std::expm1(-static_cast<double>(width) / kinds);
  const auto luts = static_cast<double>(ceiling(depth, 64));
  return {.lut = depth == 2 ? 0 : distinct * luts, .ff = distinct};
}

Cost replay_cost(std::int64_t width, std::int64_t depth) {
  const auto bits = static_cast<double>(width);
  if (depth == 1) return {.lut = 1, .ff = bits};
  if (depth > 64 && depth * width >= 4096)
    return {.lut = bits, .ff = bits + 1, .bram = block_memory(width, depth)};
  const auto address = static_cast<double>(log2_ceiling(depth));
  if (depth <= 32) return {.lut = 1 + 4 * static_cast<double>(ceiling(width, 6)), .ff = address};
  const std::int64_t banks = ceiling(depth, 64);
  const double luts = static_cast<double>(4 * ceiling(width, 3) * banks);
  return {.lut = luts + (banks > 1 ? bits : 1), .ff = address};
}

namespace {

/// One digit of all lanes: chains of four rows, then a tree. See hw_templates/matrix/booth_column.
Cost column_cost(std::int64_t lanes, int a, int most) {
  const auto width = [&](std::int64_t count) {
    return std::min(most, a + 1 + log2_ceiling(std::min(count, lanes)));
  };
  Cost cost;
  std::int64_t nodes = ceiling(lanes, 4);
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    const std::int64_t row = lane % 4;
    if (row == 0) cost.lut += width(1);
    if (row != 0) cost += adder_cost(width(row + 1));
    cost.lut += 2.6;  // digits decoded for some of the bits
  }
  const int levels = log2_ceiling(nodes);
  cost.ff += static_cast<double>(nodes) * (width(4) + 1);
  for (int level = 1; level <= levels; ++level) {
    cost += scaled(adder_cost(width(std::int64_t{4} << level)), static_cast<double>(nodes / 2));
    nodes = ceiling(nodes, 2);
    if (level % 2 == 1 || level == levels)
      cost.ff += static_cast<double>(nodes) * (width(std::int64_t{4} << level) + 1);
  }
  return cost;
}

}  // namespace

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
      cost += adder_cost(width(from, std::min(span, digits - from)) - span);
  cost.ff += sum + 1;
  return cost;
}

namespace {

/// DSP48E1 of a product, or 0 where Yosys uses LUTs: operands of one bit, or fewer than nine bits
/// of product (synth_xilinx, mul2dsp); wider operands than 25 x 18 are split.
std::int64_t dsp_blocks(int a, int b, int product) {
  if (std::min(a, b) < 2 || product < 9) return 0;
  const int wide = std::max(a, b), narrow = std::min(a, b);
  const std::int64_t along = wide <= 25 ? 1 : ceiling(wide - 1, 17);
  const std::int64_t across = narrow <= 18 ? 1 : ceiling(narrow - 1, 17);
  return along * across;
}

}  // namespace

Cost dot_multiply_cost(const DotShape& shape) {
  const int product = std::min(shape.a + shape.b, shape.sum);
  const int sum = std::min(product + log2_ceiling(shape.lanes), shape.sum);
  const std::int64_t blocks = dsp_blocks(shape.a, shape.b, product);
  const auto lanes = static_cast<double>(shape.lanes);
  Cost cost;
  cost.dsp = lanes * static_cast<double>(blocks);
  if (blocks == 0) {
    cost.lut += lanes * 2.0 * shape.a * shape.b;
    cost += scaled(adder_cost(sum), lanes - 1);
    cost.ff += lanes * product + sum;
    return cost;
  }
  // Sums of up to eight lanes stand in the DSP blocks.
  const std::int64_t chains = ceiling(shape.lanes, 8);
  cost += scaled(adder_cost(sum), static_cast<double>(chains - 1));
  if (blocks > 1) cost += scaled(adder_cost(product), lanes * static_cast<double>(blocks - 1));
  if (chains > 1) cost.ff += sum;
  return cost;
}

Cost clamp_cost(const Instance& instance, int width) {
  const Parameters& parameters = instance.parameters;
  const auto shift = static_cast<int>(parameters.integer("SHIFT"));
  const auto out = static_cast<double>(parameters.integer("OW"));
  const bool rounds = parameters.integer("ROUND") != 0 && shift > 0;
  const int quotient = std::max(1, width + 1 - std::max(shift, 0));
  Cost cost{.lut = out + 2};
  if (quotient > out) cost.lut += (quotient - out) / 4;
  if (rounds)
    cost += Cost{.lut = quotient * 0.7 + shift / 5.0, .carry = std::ceil((quotient + 1) / 4.0)};
  if (parameters.integer("DIVISOR") != 1)
    cost += scaled(adder_cost(2.0 * quotient + 8), quotient / 3.0);
  return cost;
}

Cost buffer_cost(std::int64_t width) {
  return {.lut = static_cast<double>(width) + 3, .ff = 2 * static_cast<double>(width) + 2};
}

}  // namespace mase::hw
