// Adders, memories, dot products and rounding in LUTs, carry chains, DSP blocks and block memory.
#include "hardware/design/modules/arithmetic_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace mase::design {

Cost adder_cost(double bits) { return {.lut = bits, .carry = std::ceil(bits / 4)}; }

namespace {

/// Block memory in the shape that needs the fewest blocks; a RAMB18 is 512 x 36, 1024 x 18, 2048 x
/// 9, 4096 x 4, 8192 x 2, 16384 x 1. Where several stand above each other LUTs choose among them,
/// four to a LUT6.
Cost block_memory(std::int64_t width, std::int64_t depth) {
  std::int64_t best = -1, above = 1, words = 512;
  for (const std::int64_t bits : {36, 18, 9, 4, 2, 1}) {
    const std::int64_t rows = ceiling(depth, words), count = ceiling(width, bits) * rows;
    if (best < 0 || count < best) {
      best = count;
      above = ceiling(rows, 2);  // two RAMB18 that stand above each other are one RAMB36
    }
    words *= 2;
  }
  return {.lut = static_cast<double>(width * ceiling(above - 1, 3)),
          .bram = static_cast<double>(best) / 2};
}

/// Columns of a ROM: LUTs, and registers behind those that are not constant.
struct RomColumns {
  double logic = 0, registers = 0;
};

/// A column by 64 words each, the first word in the lowest bit.
using Column = std::vector<std::uint64_t>;

std::vector<Column> columns_of(const Memory& image, std::int64_t width) {
  const std::size_t blocks = (image.words.size() + 63) / 64;
  std::vector<Column> columns(static_cast<std::size_t>(width), Column(blocks, 0));
  for (std::size_t word = 0; word < image.words.size(); ++word)
    for (std::int64_t bit = 0; bit < width; ++bit)
      columns[static_cast<std::size_t>(bit)][word / 64] |=
          std::uint64_t{hex_bit(image.words[word], bit)} << (word % 64);
  return columns;
}

/// Up to 64 words are a LUT, but for constants and copies of an address bit.
bool needs_lut(std::uint64_t column, std::uint64_t all) {
  constexpr std::array<std::uint64_t, 6> address = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc,
                                                    0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00,
                                                    0xffff0000ffff0000, 0xffffffff00000000};
  return std::none_of(address.begin(), address.end(), [&](std::uint64_t bit) {
    return column == (bit & all) || column == (~bit & all);
  });
}

/// LUTs of a column of more words: a LUT for each 64 that differ, where complements are alike, and
/// the choice among them, 1.4 LUTs by Yosys for eight because of MUXF7 and MUXF8.
double long_column(const Column& column) {
  std::set<std::uint64_t> different;
  for (const std::uint64_t block : column) different.insert(std::min(block, ~block));
  different.erase(0);
  return different.empty() ? 0 : static_cast<double>(different.size()) + 1.4;
}

/// Equal columns are merged, constant ones are wires.
RomColumns known_columns(const Memory& image, std::int64_t width, std::int64_t depth) {
  const std::vector<Column> columns = columns_of(image, width);
  const std::uint64_t all = depth < 64 ? (std::uint64_t{1} << depth) - 1 : ~std::uint64_t{0};
  RomColumns result;
  std::set<Column> different(columns.begin(), columns.end());
  different.erase(Column(columns[0].size(), 0));
  different.erase(Column(columns[0].size(), all));
  for (const Column& column : different) {
    result.registers += 1;
    if (depth > 64) result.logic += long_column(column);
    if (depth <= 64 && needs_lut(column[0], all)) result.logic += 1;
  }
  return result;
}

/// The same where the image is not known: random bits.
RomColumns random_columns(std::int64_t width, std::int64_t depth) {
  const double kinds = std::exp2(static_cast<double>(std::min<std::int64_t>(depth, 40)));
  const double distinct = kinds * -std::expm1(-static_cast<double>(width) / kinds);
  return {depth == 2 ? 0 : distinct * static_cast<double>(ceiling(depth, 64)), distinct};
}

}  // namespace

bool hex_bit(const std::string& digits, std::int64_t index) {
  const auto digit = static_cast<std::size_t>(index / 4);
  if (digit >= digits.size()) return false;
  const char c = digits[digits.size() - 1 - digit];
  const int value = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
  return (value >> (index % 4) & 1) != 0;
}

Cost rom_cost(std::int64_t width, std::int64_t depth, const Memory* image) {
  if (depth >= 8 && width * depth >= 1024) return block_memory(width, depth);
  return table_cost(width, depth, image);
}

Cost table_cost(std::int64_t width, std::int64_t depth, const Memory* image) {
  if (depth == 1) return {};
  const bool known = image && static_cast<std::int64_t>(image->words.size()) == depth;
  const RomColumns columns =
      known ? known_columns(*image, width, depth) : random_columns(width, depth);
  return {.lut = columns.logic, .ff = columns.registers};
}

const Memory* image_of(const Design& design, const Instance& instance, const char* parameter) {
  if (!instance.parameters.contains(parameter)) return nullptr;
  return design.find_memory(instance.parameters.text(parameter));
}

Cost replay_cost(std::int64_t width, std::int64_t depth) {
  const auto bits = static_cast<double>(width);
  if (depth == 1) return {.lut = 1, .ff = bits};
  if (depth > 64 && depth * width >= 4096) {
    Cost cost = block_memory(width, depth);
    cost.lut += bits;
    cost.ff = bits + 1;
    return cost;
  }
  const auto address = static_cast<double>(log2_ceiling(depth));
  if (depth <= 32) return {.lut = 1 + 4 * static_cast<double>(ceiling(width, 6)), .ff = address};
  const std::int64_t banks = ceiling(depth, 64);
  const double luts = static_cast<double>(4 * ceiling(width, 3) * banks);
  return {.lut = luts + (banks > 1 ? bits + static_cast<double>(banks) : 1), .ff = address};
}

namespace {

/// One digit of all lanes: chains of four rows, then a tree. See
/// hw_templates/matrix/mase_booth_column.
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

namespace {

/// The tree of adders of dot_multiply over its chains, whose every second level has registers. What
/// lies between two registers Yosys makes one sum of up to four operands: rows of full adders, two
/// LUTs a bit less what ABC merges, and one carry chain.
Cost chains_cost(std::int64_t chains, int first, int most) {
  Cost cost;
  for (int bits = first; chains > 1; chains = ceiling(chains, 4)) {
    bits = std::min(most, bits + (chains > 2 ? 2 : 1));
    for (std::int64_t left = chains; left > 0; left -= 4) {
      const std::int64_t operands = std::min<std::int64_t>(left, 4);
      if (operands > 1) cost += adder_cost(bits);
      cost.lut += 1.75 * bits * static_cast<double>(std::max<std::int64_t>(operands - 2, 0));
      cost.ff += bits;
    }
  }
  return cost;
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
  cost += chains_cost(chains, std::min(product + 3, sum), sum);
  if (blocks > 1) cost += scaled(adder_cost(product), lanes * static_cast<double>(blocks - 1));
  return cost;
}

namespace {

/// k for a bound of 2^k - 1, of which the module looks at the high bits only, else -1.
int ones(Wide bound) {
  int bits = 0;
  for (; bits < 63 && bound != 0 && (bound & 1) != 0; ++bits) bound >>= 1;
  return bound == 0 ? bits : -1;
}

Wide bound(const ModuleParameters& parameters, const char* name, Wide otherwise) {
  return parameters.contains(name) ? parameters.wide(name) : otherwise;
}

/// LUTs of a function of so many inputs.
double function_luts(int inputs) {
  return static_cast<double>(ceiling(std::max(0, inputs - 1), 5));
}

/// One of the bounds: `bits` it holds when the module looks at the high bits only, else -1.
struct Bound {
  int bits;
  bool never;    ///< passed
  int compared;  ///< bits of the quotient that tell whether it is passed
};

/// What rounding and clamping from some bits needs.
struct Clamp {
  int quotient;  ///< bits of the rounded number, with its sign
  int shift;
  Bound above, below;
  int different;  ///< bits of the output in which the bounds differ
};

Clamp clamp_of(const Instance& instance, Width width) {
  const ModuleParameters& parameters = instance.parameters;
  const Wide high = bound(parameters, "HIGH", 127), low = bound(parameters, "LOW", -128);
  Clamp clamp{};
  clamp.shift = static_cast<int>(parameters.integer("SHIFT"));
  const int carry = parameters.integer("ROUND") != 0 && clamp.shift > 0 ? 1 : 0;
  clamp.quotient = std::max(1, width.bits + (width.is_signed ? 0 : 1) + carry - clamp.shift);
  clamp.shift = std::max(clamp.shift, 0);
  // Ones at the end of the upper bound, and zeros of the lower one, decide nothing.
  const auto ones_at_end = [](Wide number) {
    int count = 0;
    for (; count < 63 && (number & 1) != 0; number >>= 1) ++count;
    return count;
  };
  clamp.above.compared = clamp.quotient - ones_at_end(high);
  clamp.below.compared = clamp.quotient - ones_at_end(~low);
  clamp.above.bits = ones(high);
  clamp.above.never = clamp.above.bits >= clamp.quotient - 1;
  clamp.below.bits = low == 0 ? 0 : ones(-low - 1);
  clamp.below.never = !width.is_signed || (low != 0 && clamp.below.bits >= clamp.quotient - 1);
  for (std::int64_t bit = 0; bit < parameters.integer("OW"); ++bit)
    clamp.different += static_cast<int>((low >> bit & 1) != (high >> bit & 1));
  return clamp;
}

/// Telling whether a quotient passes a bound. Up to two spare bits enter the LUTs of the choice as
/// they are; a bound that is no power of two is a comparison with a constant.
Cost passed_cost(const Clamp& clamp, Bound side) {
  if (side.never) return {};
  if (side.bits < 0 && clamp.quotient > 12) return {.lut = 5, .carry = 1};
  if (side.bits < 0) return {.lut = function_luts(side.compared)};
  const int spare = clamp.quotient - 1 - side.bits;
  return {.lut = spare > 2 ? function_luts(spare + 1) : 0};
}

Cost outside_cost(const Clamp& clamp) {
  Cost cost = passed_cost(clamp, clamp.above);
  if (clamp.below.bits != 0) cost += passed_cost(clamp, clamp.below);  // below zero is the sign
  return cost;
}

}  // namespace

Cost clamp_cost(const Instance& instance, Width width) {
  const ModuleParameters& parameters = instance.parameters;
  const Clamp clamp = clamp_of(instance, width);
  Cost cost = outside_cost(clamp);
  // The half is a constant: its adder needs no LUTs. A tie is seen at the bits shifted out.
  if (parameters.integer("ROUND") != 0 && clamp.shift > 0)
    cost += Cost{.lut = function_luts(clamp.shift),
                 .carry = std::ceil((clamp.quotient + (width.is_signed ? 1 : 0)) / 4.0)};
  if (parameters.integer("DIVISOR") != 1)
    cost += scaled(adder_cost(2.0 * clamp.quotient + 8), clamp.quotient / 3.0);
  return cost;
}

double clamp_choice(const Instance& instance, Width width) {
  const Clamp clamp = clamp_of(instance, width);
  if (!clamp.above.never && !clamp.below.never) {
    const bool all = clamp.different == instance.parameters.integer("OW");
    return clamp.different + (all ? 0 : 1);
  }
  // Only the lowest bit has a LUT then, for ties, and one gates the set or reset.
  const bool gate = !(clamp.above.never && clamp.below.never) && outside_cost(clamp).lut == 0;
  const bool rounds = instance.parameters.integer("ROUND") != 0;
  return (gate ? 1 : 0) +
         (rounds ? function_luts(clamp.shift + 1) - function_luts(clamp.shift) : 0);
}

double counter_carry(int bits) { return bits > 3 ? std::ceil(bits / 4.0) : 0; }

Cost counter_cost(std::int64_t states) {
  const int bits = log2_ceiling(states);
  if (bits == 0) return {};
  return {.lut = 1.3 * bits, .ff = static_cast<double>(bits), .carry = counter_carry(bits)};
}

Cost buffer_cost(std::int64_t width) {
  return {.lut = static_cast<double>(width) + 3, .ff = 2 * static_cast<double>(width) + 2};
}

}  // namespace mase::design
