// SPDX-License-Identifier: Apache-2.0
// The elementwise modules in RTL against integers computed here.
#include <catch2/catch.hpp>

#include "hardware/design/building/memory_image.hpp"
#include "hardware/design/modules/binary.hpp"
#include "hardware/design/modules/cast.hpp"
#include "hardware/design/modules/channel_shift.hpp"
#include "hardware/design/modules/divide.hpp"
#include "hardware/design/modules/lookup.hpp"
#include "hardware/design/modules/piecewise.hpp"
#include "hardware/design/modules/scale_shift.hpp"
#include "hardware/design/modules/square_root.hpp"
#include "support/module_bench.hpp"

namespace mase::rtl_test {
namespace {

using integer::Codes;
using integer::FixedType;
using integer::Requantise;
using integer::Wide;

constexpr std::int64_t kElementwiseFrames = 48;

FixedType random_type(Random& random, int most) {
  return {static_cast<int>(between(random, 1, most)), 0, random.below(2) == 0};
}

std::int64_t power(int exponent) { return std::int64_t{1} << exponent; }

/// A shift that brings most of [-magnitude, magnitude] into the output, or a few bits beside it.
int random_shift(Random& random, Wide magnitude, const FixedType& to) {
  int bits = 0;
  for (; magnitude > to.high(); magnitude /= 2) ++bits;
  return bits + static_cast<int>(between(random, -2, 2));
}

/// The codes of a port mapped one by one.
template <class F>
Port mapped(const Port& from, const FixedType& type, F&& map) {
  Port to{from.lanes, type, {}};
  for (std::size_t i = 0; i < from.codes.size(); ++i)
    to.codes.push_back(static_cast<std::int64_t>(map(i)));
  return to;
}

Case cast_case(Random& random, const FixedType& from, const FixedType& to,
               const Requantise& requantise) {
  const Port in = random_port(random, between(random, 1, 3), from, kElementwiseFrames * 7);
  const design::CastModule module{design::requantisation(requantise, to), in.lanes, from.width,
                                  from.is_signed};
  return case_of(module, {in},
                 {mapped(in, to, [&](std::size_t i) { return requantise(in.codes[i]); })});
}

TEST_CASE("casts in RTL round and clamp as the integers do") {
  Random random(1);
  std::vector<Case> cases;
  for (int i = 0; i < 48; ++i) {
    const FixedType from = random_type(random, i % 4 == 0 ? 62 : 16);
    const FixedType to = random_type(random, 32);
    const std::int64_t divisor = i % 3 == 0 ? between(random, 2, 200) : 1;
    const int shift = random_shift(random, from.high() / divisor, to);
    cases.push_back(cast_case(random, from, to, random_requantise(random, to, shift, divisor)));
  }
  check_cases(cases, kElementwiseFrames);
}

TEST_CASE("average pooling's divisors in RTL are exact on every code") {
  Random random(2);
  std::vector<Case> cases;
  for (const std::int64_t divisor :
       {3, 5, 6, 7, 9, 12, 25, 36, 49, 64, 100, 121, 169, 196, 225, 784})
    for (const int shift : {-2, 0, 1, 4}) {
      const FixedType from{13, 0, random.below(2) == 0}, to{9, 0, true};
      const Requantise requantise = random_requantise(random, to, shift, divisor);
      cases.push_back(cast_case(random, from, to, requantise));
      Port& in = cases.back().inputs[0];
      in.codes.clear();
      const std::int64_t whole = kElementwiseFrames * in.lanes;  // codes of one beat in every frame
      for (std::int64_t i = 0; i < (power(13) + whole - 1) / whole * whole; ++i)
        in.codes.push_back(static_cast<std::int64_t>(from.low()) + i % power(13));
      cases.back().outputs[0] =
          mapped(in, to, [&](std::size_t i) { return requantise(in.codes[i]); });
    }
  check_cases(cases, kElementwiseFrames);
}

TEST_CASE("lookups in RTL read the table at the bits of the code") {
  Random random(3);
  std::vector<Case> cases;
  for (int i = 0; i < 14; ++i) {
    FixedType from = random_type(random, 10);
    const FixedType to = random_type(random, 32);
    if (i == 0) from.width = 12;
    const Codes table = random_codes(random, to, power(from.width));
    const Port in = random_port(random, between(random, 1, 3), from, kElementwiseFrames * 9);
    const std::vector<Wide> words(table.begin(), table.end());
    const design::LookupModule module{.lanes = in.lanes,
                                      .in_bits = from.width,
                                      .out_bits = to.width,
                                      .file = "table_" + std::to_string(i) + ".mem"};
    const Port result = mapped(in, to, [&](std::size_t at) {
      return table[static_cast<std::size_t>(in.codes[at] & (power(from.width) - 1))];
    });
    cases.push_back(
        case_of(module, {in}, {result},
                {{module.file, "", "", to.width, design::vector_words(words, 1, to.width)}}));
  }
  check_cases(cases, kElementwiseFrames);
}

/// Words of a random base above a random slope; unsigned slopes every third time.
Case piecewise_case(Random& random, int index) {
  const FixedType from{static_cast<int>(between(random, 2, index == 0 ? 16 : 10)), 0,
                       random.below(2) == 0};
  const FixedType slope_type{static_cast<int>(between(random, 1, 9)), 0, index % 3 != 0};
  const FixedType base_type{static_cast<int>(between(random, 1, 20)), 0, true};
  const FixedType to = random_type(random, 16);
  const int low_bits = static_cast<int>(between(random, 1, from.width - 1));
  const Codes slope = random_codes(random, slope_type, power(from.width - low_bits));
  const Codes base = random_codes(random, base_type, power(from.width - low_bits));
  const auto exact = [&](std::int64_t code) {
    const std::int64_t bits = code & (power(from.width) - 1), low = bits % power(low_bits);
    const auto piece = static_cast<std::size_t>(bits / power(low_bits));
    return Wide{base[piece]} + Wide{slope[piece]} * low;
  };
  Wide least = 0, most = 0;
  std::vector<Wide> words;
  for (std::size_t s = 0; s < slope.size(); ++s) {
    const Wide end = Wide{base[s]} + Wide{slope[s]} * (power(low_bits) - 1);
    least = std::min({least, Wide{base[s]}, end});
    most = std::max({most, Wide{base[s]}, end});
    words.push_back(Wide{base[s]} * power(slope_type.width) +
                    (slope[s] & (power(slope_type.width) - 1)));
  }
  const Requantise requantise =
      random_requantise(random, to, random_shift(random, std::max(-least, most), to));
  const Port in = random_port(random, between(random, 1, 3), from, kElementwiseFrames * 9);
  design::PiecewiseModule module{design::requantisation(requantise, to)};
  module.lanes = in.lanes;
  module.in_bits = from.width;
  module.low_bits = low_bits;
  module.slope_bits = slope_type.width;
  module.slope_signed = slope_type.is_signed;
  module.base_bits = base_type.width;
  module.sum_bits = integer::signed_width(least, most);
  module.multiplier = index % 3;
  module.file = "pieces_" + std::to_string(index) + ".mem";
  const int width = slope_type.width + base_type.width;
  return case_of(module, {in},
                 {mapped(in, to, [&](std::size_t i) { return requantise(exact(in.codes[i])); })},
                 {{module.file, "", "", width, design::vector_words(words, 1, width)}});
}

TEST_CASE("functions in straight pieces in RTL are the pieces' lines, requantised") {
  Random random(18);
  std::vector<Case> cases;
  for (int i = 0; i < 24; ++i) cases.push_back(piecewise_case(random, i));
  check_cases(cases, kElementwiseFrames);
}

Case binary_case(Random& random, int op) {
  const FixedType a = random_type(random, 12), b = random_type(random, 12);
  const FixedType to = random_type(random, 16);
  const int a_shift = static_cast<int>(between(random, 0, 3)), b_shift = op == 0 ? 0 : 2;
  const Port left = random_port(random, between(random, 1, 3), a, kElementwiseFrames * 6);
  const Port right = random_port(random, left.lanes, b, kElementwiseFrames * 6);
  const auto exact = [&](Wide x, Wide y) {
    if (op == 2) return x * y;
    const Wide shifted_x = x * power(a_shift), shifted_y = y * power(b_shift);
    if (op == 3) return std::max(shifted_x, shifted_y);
    if (op == 4) return std::min(shifted_x, shifted_y);
    return op == 0 ? shifted_x + shifted_y : shifted_x - shifted_y;
  };
  Wide low = 0, high = 0;
  for (const Wide x : {a.low(), a.high()})
    for (const Wide y : {b.low(), b.high()}) {
      low = std::min(low, exact(x, y));
      high = std::max(high, exact(x, y));
    }
  if (op >= 3) {  // the operands stand in the accumulator before one is chosen
    low = std::min(a.low() * power(a_shift), b.low() * power(b_shift));
    high = std::max(a.high() * power(a_shift), b.high() * power(b_shift));
  }
  const Requantise requantise =
      random_requantise(random, to, random_shift(random, std::max(-low, high), to));
  design::BinaryModule module{design::requantisation(requantise, to)};
  module.operation = op;
  module.lanes = left.lanes;
  module.a_bits = a.width;
  module.a_signed = a.is_signed;
  module.a_shift = a_shift;
  module.b_bits = b.width;
  module.b_signed = b.is_signed;
  module.b_shift = b_shift;
  module.result_bits = integer::signed_width(low, high);
  module.multiplier = static_cast<int>(between(random, 0, 2));
  const Port result = mapped(
      left, to, [&](std::size_t i) { return requantise(exact(left.codes[i], right.codes[i])); });
  return case_of(module, {left, right}, {result});
}

TEST_CASE("sums, differences, products and choices in RTL join their operands") {
  Random random(4);
  std::vector<Case> cases;
  for (int i = 0; i < 30; ++i) cases.push_back(binary_case(random, i % 5));
  check_cases(cases, kElementwiseFrames);
}

/// a / b in units of the result, rounded once: what its floor leaves over decides.
Wide exact_quotient(Wide a, Wide b, const Requantise& requantise) {
  if (b == 0) return a == 0 ? requantise(0) : a < 0 ? requantise.low : requantise.high;
  if (b < 0) return exact_quotient(-a, -b, requantise);
  const Wide floor = (a - (a % b + b) % b) / b, twice = 2 * (a - floor * b);
  const bool nearest = requantise.rounding != formats::Rounding::floor;
  const bool away = requantise.rounding == formats::Rounding::nearest_away;
  const bool tie_up = away ? a >= 0 : floor % 2 != 0;
  const bool up = nearest && (twice > b || (twice == b && tie_up));
  return std::clamp(floor + (up ? 1 : 0), requantise.low, requantise.high);
}

Case divide_case(Random& random, const FixedType& a, const FixedType& b) {
  const FixedType to = random_type(random, 16);
  const bool shifts_a = random.below(3) != 0;
  const int shift = static_cast<int>(between(random, 0, 9));
  const Port left = random_port(random, between(random, 1, 3), a, kElementwiseFrames * 12);
  const Port right = random_port(random, left.lanes, b, kElementwiseFrames * 12);
  // The module's quotient has one bit and the remainder's below those of the result.
  const Requantise requantise = random_requantise(random, to, 2);
  design::DivideModule module{design::requantisation(requantise, to)};
  module.lanes = left.lanes;
  module.a_bits = a.width;
  module.a_signed = a.is_signed;
  module.a_shift = shifts_a ? shift : 0;
  module.b_bits = b.width;
  module.b_signed = b.is_signed;
  module.b_shift = shifts_a ? 0 : shift;
  module.quotient_bits = integer::signed_width(0, std::max(to.high(), -to.low()));
  const Port result = mapped(left, to, [&](std::size_t i) {
    return exact_quotient(Wide{left.codes[i]} * power(module.a_shift),
                          Wide{right.codes[i]} * power(module.b_shift + 1), requantise);
  });
  return case_of(module, {left, right}, {result});
}

TEST_CASE("quotients in RTL are the exact ones rounded once, by zero too") {
  Random random(16);
  std::vector<Case> cases;
  for (int i = 0; i < 30; ++i)
    cases.push_back(
        divide_case(random, random_type(random, i % 5 == 0 ? 24 : 8), random_type(random, 6)));
  check_cases(cases, kElementwiseFrames);
}

/// The largest number whose square is at most this one.
std::int64_t exact_root(Wide radicand) {
  std::int64_t low = 0, high = std::int64_t{1} << 40;
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (Wide{middle} * middle <= radicand ? low : high) = middle;
  }
  return low;
}

Case square_root_case(Random& random, int width, int shift, std::int64_t addend) {
  const FixedType in{width, 0, false};
  const Port x = random_port(random, between(random, 1, 3), in, kElementwiseFrames * 12);
  const auto root = [&](Wide code) { return exact_root(code * power(shift) + addend); };
  const FixedType to = integer::type_for(0, root(in.high()), 0);
  const design::SquareRootModule module{.lanes = x.lanes,
                                        .in_bits = width,
                                        .shift = shift,
                                        .addend = {addend, 64, false},
                                        .root_bits = to.width};
  return case_of(module, {x}, {mapped(x, to, [&](std::size_t i) { return root(x.codes[i]); })});
}

TEST_CASE("square roots in RTL are the exact ones rounded down") {
  Random random(17);
  std::vector<Case> cases;
  for (const int width : {1, 2, 3, 5, 8, 13, 31})
    for (const int shift : {0, 1, 16})
      for (const std::int64_t addend :
           {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 33 | 5})
        cases.push_back(square_root_case(random, width, shift, addend));
  check_cases(cases, kElementwiseFrames);
}

struct Channels {
  Codes scale;
  std::vector<Wide> shift;
  Wide low = 0, high = 0;  ///< of every accumulator
};

Channels random_channels(Random& random, const FixedType& in, const FixedType& scale_type,
                         std::int64_t count) {
  Channels result{random_codes(random, scale_type, count), {}, 0, 0};
  const FixedType shift_type{static_cast<int>(between(random, 1, 14)), 0, true};
  for (const std::int64_t code : random_codes(random, shift_type, count))
    result.shift.push_back(code);
  for (std::size_t c = 0; c < result.scale.size(); ++c)
    for (const Wide x : {in.low(), in.high()})
      for (const Wide shift : {Wide{0}, result.shift[c]}) {
        result.low = std::min(result.low, x * result.scale[c] + shift);
        result.high = std::max(result.high, x * result.scale[c] + shift);
      }
  return result;
}

Case scale_case(Random& random, int index) {
  const FixedType in_type = random_type(random, 10), scale_type = random_type(random, 10);
  const FixedType to = random_type(random, 12);
  const bool has_shift = index % 3 != 0;
  const std::int64_t blocks = between(random, 1, 5), lanes = between(random, 1, 3);
  const Port in = random_port(random, lanes, in_type, kElementwiseFrames * blocks * 2);
  Channels channels = random_channels(random, in_type, scale_type, blocks * lanes);
  if (!has_shift) channels.shift.assign(channels.scale.size(), 0);
  const Requantise requantise = random_requantise(
      random, to, random_shift(random, std::max(-channels.low, channels.high), to));
  const auto [least, most] = std::minmax_element(channels.shift.begin(), channels.shift.end());
  const int shift_bits = integer::signed_width(*least, *most);
  design::ScaleShiftModule module{design::requantisation(requantise, to)};
  module.blocks = blocks;
  module.lanes = lanes;
  module.in_bits = in_type.width;
  module.in_signed = in_type.is_signed;
  module.scale_bits = scale_type.width;
  module.scale_signed = scale_type.is_signed;
  module.has_shift = has_shift;
  module.shift_bits = shift_bits;
  module.sum_bits = integer::signed_width(channels.low, channels.high);
  module.multiplier = index % 3;
  module.scale_file = "scale_" + std::to_string(index) + ".mem";
  const std::vector<Wide> scale(channels.scale.begin(), channels.scale.end());
  std::vector<design::Memory> memories = {{module.scale_file, "", "", lanes * scale_type.width,
                                           design::vector_words(scale, lanes, scale_type.width)}};
  if (has_shift) {
    module.shift_file = "scale_" + std::to_string(index) + "_shift.mem";
    memories.push_back({module.shift_file, "", "", lanes * shift_bits,
                        design::vector_words(channels.shift, lanes, shift_bits)});
  }
  const Port result = mapped(in, to, [&](std::size_t i) {
    const std::size_t channel = i % channels.scale.size();
    return requantise(static_cast<Wide>(in.codes[i]) * channels.scale[channel] +
                      channels.shift[channel]);
  });
  return case_of(module, {in}, {result}, memories);
}

TEST_CASE("scale and shift in RTL follow the channels") {
  Random random(5);
  std::vector<Case> cases;
  for (int i = 0; i < 24; ++i) cases.push_back(scale_case(random, i));
  check_cases(cases, kElementwiseFrames);
}

/// Every fourth with one block, whose distances are constants.
Case channel_shift_case(Random& random, int index) {
  const FixedType in_type = random_type(random, 20), to = random_type(random, 12);
  const std::int64_t blocks = index % 4 == 0 ? 1 : between(random, 2, 5);
  const std::int64_t lanes = between(random, 1, 3);
  const int bits = static_cast<int>(between(random, 1, 4));
  const Port in = random_port(random, lanes, in_type, kElementwiseFrames * blocks * 2);
  std::vector<Wide> left;
  for (std::int64_t c = 0; c < blocks * lanes; ++c)
    left.push_back(between(random, 0, power(bits) - 1));
  const std::int64_t most = power(static_cast<int>(*std::max_element(left.begin(), left.end())));
  const Requantise requantise = random_requantise(
      random, to, random_shift(random, std::max(-in_type.low(), in_type.high()) * most, to));
  design::ChannelShiftModule module{design::requantisation(requantise, to)};
  module.blocks = blocks;
  module.lanes = lanes;
  module.in_bits = in_type.width;
  module.in_signed = in_type.is_signed;
  module.distance_bits = bits;
  module.shifted_bits = integer::signed_width(in_type.low() * most, in_type.high() * most);
  std::vector<design::Memory> memories;
  if (blocks == 1) {
    module.distances = design::HexBits{design::pack_word(left, bits), lanes * bits};
  } else {
    module.file = "left_" + std::to_string(index) + ".mem";
    memories.push_back(
        {*module.file, "", "", lanes * bits, design::vector_words(left, lanes, bits)});
  }
  const Port result = mapped(in, to, [&](std::size_t i) {
    const auto distance = static_cast<int>(left[i % left.size()]);
    return requantise(static_cast<Wide>(in.codes[i]) * power(distance));
  });
  return case_of(module, {in}, {result}, memories);
}

TEST_CASE("accumulators of channels in RTL come to one binary point and are rounded once") {
  Random random(6);
  std::vector<Case> cases;
  for (int i = 0; i < 24; ++i) cases.push_back(channel_shift_case(random, i));
  check_cases(cases, kElementwiseFrames);
}

}  // namespace
}  // namespace mase::rtl_test
