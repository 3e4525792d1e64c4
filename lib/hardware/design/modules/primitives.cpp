// SPDX-License-Identifier: Apache-2.0
// Adders, memories, products and requantisation in LUTs, carry chains, DSP blocks and block memory.
#include "hardware/design/modules/primitives.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace mase::design {

double carry_chain(std::int64_t bits) {
  return bits > 2 ? static_cast<double>(ceiling(bits, 4)) : 0;
}

Cost adder_cost(std::int64_t bits) {
  return {.lut = static_cast<double>(bits), .carry = carry_chain(bits)};
}

Cost carry_adder_cost(std::int64_t bits) {
  return {.lut = static_cast<double>(bits), .carry = carry_chain(bits + 1)};
}

Cost choice_cost(std::int64_t bits) {
  return {.lut = fitted.choice_bit * static_cast<double>(bits), .carry = 1};
}

Cost counter_cost(std::int64_t states, double luts_per_bit) {
  const int bits = log2_ceiling(states);
  return {.lut = luts_per_bit * bits, .ff = static_cast<double>(bits), .carry = carry_chain(bits)};
}

Cost counters_cost(std::span<const std::int64_t> states, double luts_per_bit) {
  Cost cost;
  for (const std::int64_t count : states) cost += counter_cost(count, luts_per_bit);
  return cost;
}

double shifter_luts(int distance_bits) {
  const auto bits = static_cast<std::size_t>(distance_bits);
  return bits < fitted.shifter.size() ? fitted.shifter[bits]
                                      : fitted.long_shifter * static_cast<double>(bits);
}

/// A RAMB18 is 512 x 36, 1024 x 18, 2048 x 9, 4096 x 4, 8192 x 2, 16384 x 1. Where several stand
/// above each other LUTs choose among them, four to a LUT6; of shapes with equally many blocks the
/// one is taken in which fewer do.
Cost block_memory_cost(std::int64_t width, std::int64_t depth) {
  std::int64_t best = -1, above = 1, words = 512;
  for (const std::int64_t bits : {36, 18, 9, 4, 2, 1}) {
    const std::int64_t rows = ceiling(depth, words), count = ceiling(width, bits) * rows;
    if (best < 0 || count <= best) {
      best = count;
      above = ceiling(rows, 2);  // two RAMB18 that stand above each other are one RAMB36
    }
    words *= 2;
  }
  return {.lut = static_cast<double>(width * ceiling(above - 1, 3)),
          .bram = static_cast<double>(best) / 2};
}

/// A RAM32M is 32 x 6, a RAM64M 64 x 3; each of several parts is written by an enable of its own.
Cost lut_memory_cost(std::int64_t width, std::int64_t depth) {
  const std::int64_t low = ceiling(depth, 32), high = ceiling(depth, 64);
  const std::int64_t wide = low * ceiling(width, 6), deep = high * ceiling(width, 3);
  const std::int64_t parts = wide < deep ? low : high;
  const std::int64_t choice = parts > 1 ? width * ceiling(parts - 1, 3) + parts : 0;
  return {.lut = static_cast<double>(4 * std::min(wide, deep) + choice)};
}

Cost window_memory_cost(std::int64_t width, std::int64_t depth) {
  if (window_in_block.holds(width, depth)) return block_memory_cost(width, depth);
  Cost cost = lut_memory_cost(width, depth);
  cost.ff += static_cast<double>(width);
  return cost;
}

namespace {

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

/// LUTs of a column of so many LUTs of 64 words each with the choice among them.
double chosen_luts(std::int64_t blocks) {
  const auto luts = static_cast<double>(blocks);
  return blocks == 0 ? 0 : luts + std::max(fitted.table_choice, luts / fitted.table_choice_share);
}

/// LUTs of a column of more words: a LUT for each 64 that differ, where complements are alike.
double long_column(const Column& column) {
  std::set<std::uint64_t> different;
  for (const std::uint64_t block : column) different.insert(std::min(block, ~block));
  different.erase(0);
  return chosen_luts(std::ssize(different));
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
  const double luts = depth == 2     ? 0
                      : depth <= 256 ? static_cast<double>(ceiling(depth, 64))
                                     : chosen_luts(ceiling(depth, 64));
  return {distinct * luts, distinct};
}

}  // namespace

bool hex_bit(const std::string& digits, std::int64_t index) {
  const auto digit = static_cast<std::size_t>(index / 4);
  if (digit >= digits.size()) return false;
  const char c = digits[digits.size() - 1 - digit];
  const int value = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
  return (value >> (index % 4) & 1) != 0;
}

std::uint64_t hex_bits(const std::string& digits, std::int64_t first, int count) {
  std::uint64_t bits = 0;
  for (int k = 0; k < count; ++k) bits |= std::uint64_t{hex_bit(digits, first + k)} << k;
  return bits;
}

Cost table_cost(std::int64_t width, std::int64_t depth, const Memory* image) {
  if (depth == 1) return {};
  const bool known = image && static_cast<std::int64_t>(image->words.size()) == depth;
  const RomColumns columns =
      known ? known_columns(*image, width, depth) : random_columns(width, depth);
  return {.lut = columns.logic, .ff = columns.registers};
}

// Every 32 bits of a word are written by themselves: block memories enable nine bits at a time.
Cost reload_memory_cost(std::int64_t width, std::int64_t depth, bool block) {
  const std::int64_t pieces = ceiling(width, 32), rest = width - 32 * (pieces - 1);
  Cost cost{.lut = fitted.reload + fitted.reload_piece * static_cast<double>(pieces),
            .ff = static_cast<double>(pieces)};
  if (depth > 1 && block) {
    cost += block_memory_cost(36 * (pieces - 1) + 9 * ceiling(rest, 8), depth);
    return cost;
  }
  cost.ff += static_cast<double>(width);
  if (depth == 1) return cost;
  cost += scaled(lut_memory_cost(32, depth), static_cast<double>(pieces - 1));
  cost += lut_memory_cost(rest, depth);
  return cost;
}

Cost kept_image_cost(const Design& design, std::int64_t width, std::int64_t depth,
                     const std::string& file) {
  const bool block = lookup_in_block.holds(width, depth);
  if (design.reloadable) return reload_memory_cost(width, depth, block);
  return block ? block_memory_cost(width, depth)
               : table_cost(width, depth, design.find_memory(file));
}

std::int64_t dsp_blocks(int a, int b, int product) {
  if (std::min(a, b) < 2 || product < 9) return 0;
  const int wide = std::max(a, b), narrow = std::min(a, b);
  const std::int64_t along = wide <= 25 ? 1 : ceiling(wide - 1, 17);
  const std::int64_t across = narrow <= 18 ? 1 : ceiling(narrow - 1, 17);
  return along * across;
}

double product_luts(int a, int b) { return fitted.product_bit * a * b; }

Cost product_cost(int a, int b, std::int64_t multiplier) {
  // Booth rows; the highest bit of each is the sign of what the next one adds to.
  if (multiplier == 2)
    return scaled({.lut = static_cast<double>(a + 1), .carry = carry_chain(a + 3)},
                  static_cast<double>(ceiling(b, 2)));
  if (const std::int64_t blocks = dsp_blocks(a, b, a + b); blocks > 0)
    return {.dsp = static_cast<double>(blocks)};
  return {.lut = product_luts(a, b)};
}

namespace {

/// k for a bound of 2^k - 1, of which the module looks at the high bits only, else -1.
int ones(Wide bound) {
  int bits = 0;
  for (; bits < 63 && bound != 0 && (bound & 1) != 0; ++bits) bound >>= 1;
  return bound == 0 ? bits : -1;
}

/// LUTs of a function of so many inputs.
double function_luts(int inputs) {
  return static_cast<double>(ceiling(std::max(0, inputs - 1), 5));
}

/// One of the bounds: `bits` it holds when the module looks at the high bits only, else -1.
struct Bound {
  int bits;
  bool never;  ///< passed
};

/// What rounding and clamping from some bits needs.
struct Clamp {
  int quotient;  ///< bits of the rounded number, with its sign
  int shift;
  Bound above, below;
};

/// DIVISOR * 2^SHIFT as an odd number times a power of two.
struct Divisor {
  std::int64_t odd;
  int shift;
};

Divisor divisor_of(const Requantisation& requantisation) {
  Divisor divisor{requantisation.divisor, requantisation.shift};
  for (; divisor.odd % 2 == 0; divisor.odd /= 2) ++divisor.shift;
  return divisor;
}

Clamp clamp_of(const Requantisation& requantisation, Width width) {
  const Wide high = requantisation.high.value, low = requantisation.low.value;
  Clamp clamp{};
  clamp.shift = divisor_of(requantisation).shift;
  const int carry = requantisation.rounding != 0 && clamp.shift > 0 ? 1 : 0;
  clamp.quotient = std::max(1, width.bits + (width.is_signed ? 0 : 1) + carry - clamp.shift);
  clamp.shift = std::max(clamp.shift, 0);
  clamp.above.bits = ones(high);
  const bool free = low > high;  // see requantisation.cpp
  clamp.above.never = free || clamp.above.bits >= clamp.quotient - 1;
  clamp.below.bits = low == 0 ? 0 : ones(-low - 1);
  clamp.below.never =
      free || !width.is_signed || (low != 0 && clamp.below.bits >= clamp.quotient - 1);
  return clamp;
}

/// Telling whether a quotient passes a bound: a bound that is not a power of two is a comparison
/// with a constant.
Cost passed_cost(const Clamp& clamp, Bound side) {
  if (side.never) return {};
  if (side.bits < 0) return {.carry = static_cast<double>(ceiling(clamp.quotient + 1, 4))};
  return {.lut = function_luts(clamp.quotient - side.bits)};
}

Cost outside_cost(const Clamp& clamp) {
  Cost cost = passed_cost(clamp, clamp.above);
  if (clamp.below.bits != 0) cost += passed_cost(clamp, clamp.below);  // below zero is the sign
  return cost;
}

/// Rows of the product with the reciprocal of an odd divisor (see mase_round.sv): a third of the
/// reciprocal's digits is nonzero.
double division_digits(std::int64_t divisor, int bits) {
  return divisor == 1 ? 1 : (bits + 1 + log2_ceiling(divisor)) / 3.0;
}

Cost division_cost(std::int64_t divisor, int bits) {
  if (divisor == 1) return {};
  return scaled(adder_cost(bits + 3), division_digits(divisor, bits));
}

}  // namespace

Wide rounding_half(const Requantisation& requantisation) {
  constexpr int most_bits = 60;  // of a parameter
  const Divisor divisor = divisor_of(requantisation);
  if (requantisation.rounding != 1 || divisor.shift < 0 ||
      divisor.shift + log2_ceiling(divisor.odd) > most_bits)
    return 0;
  return (Wide{divisor.odd} << divisor.shift) >> 1;
}

Rounding rounding_of(const Requantisation& requantisation, Width width, bool halved) {
  const Clamp clamp = clamp_of(requantisation, width);
  const bool ties = requantisation.rounding == 1 && clamp.shift > 0;
  const bool away = requantisation.rounding == 2 && clamp.shift > 0;
  const auto bits = [&](Bound side) { return side.never ? 0 : clamp.quotient - side.bits; };
  return {.sum = width.bits + 1,
          .decides = std::max({ties ? clamp.shift + 1 : 0, bits(clamp.above), bits(clamp.below)}),
          .digits = division_digits(divisor_of(requantisation).odd, width.bits),
          .adds = away || (ties && !halved),
          .late = away,
          .compares = (!clamp.above.never && clamp.above.bits < 0) ||
                      (!clamp.below.never && clamp.below.bits < 0)};
}

Cost requantise_stage_cost(const Requantisation& requantisation, Width width, bool halved) {
  const Clamp clamp = clamp_of(requantisation, width);
  Cost cost = outside_cost(clamp);
  // The half is a constant: its adder needs no LUTs. A tie is seen at the bits shifted out.
  // One that the sign chooses needs them.
  if (requantisation.rounding != 0 && clamp.shift > 0) {
    const bool away = requantisation.rounding == 2;
    cost.lut += away ? clamp.shift : function_luts(clamp.shift);
    const int low = away ? clamp.shift : 0;  // of the half, which are not 0
    if (away || !halved)
      cost.carry += carry_chain(clamp.quotient + low + (width.is_signed ? 1 : 0));
  }
  cost += division_cost(divisor_of(requantisation).odd, width.bits);
  cost.ff += static_cast<double>(requantisation.out_bits + (clamp.above.never ? 0 : 1) +
                                 (clamp.below.never ? 0 : 1));
  return cost;
}

Cost skid_cost(std::int64_t width) {
  return {.lut = static_cast<double>(width) + 3, .ff = 2 * static_cast<double>(width) + 2};
}

Cost output_cost(std::int64_t width, std::int64_t stages) {
  Cost cost = skid_cost(width);
  cost.ff += static_cast<double>(stages);
  cost.lut += 1;
  return cost;
}

}  // namespace mase::design
