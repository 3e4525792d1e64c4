// SPDX-License-Identifier: Apache-2.0
// Matrix modules in RTL on short codes, against sums of the products of the codes' numbers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>

#include "hardware/design/building/memory_image.hpp"
#include "hardware/design/modules/linear.hpp"
#include "hardware/integer/float_code.hpp"
#include "support/module_bench.hpp"

namespace mase::rtl_test {
namespace {

using integer::Codes;
using integer::FixedType;
using integer::FloatCode;
using integer::Requantise;
using integer::Wide;

constexpr std::int64_t kFloatFrames = 40;

/// What an operand's codes are: short codes, or the numbers themselves.
struct FloatOperand {
  std::optional<FloatCode> code;
  FixedType type;  ///< of the codes

  std::int64_t number(std::int64_t of) const { return code ? code->number(of) : of; }
  /// Whether a code's number is one of those that the operand promises.
  bool occurs(std::int64_t of) const { return !code || code->occurs(of); }
};

FloatOperand short_codes(const FloatCode& code) { return {code, code.type()}; }
FloatOperand whole_numbers(int width, bool is_signed) {
  return {std::nullopt, {width, 0, is_signed}};
}

/// Element formats, and other codes that the definition allows.
std::vector<FloatOperand> float_operands() {
  return {short_codes({8, 3, true, true, 19}),   // fp8_e4m3
          short_codes({8, 2, true, true, 33}),   // fp8_e5m2
          short_codes({6, 2, true, true, 10}),   // fp6_e3m2
          short_codes({6, 3, true, true, 7}),    // fp6_e2m3
          short_codes({4, 1, true, true, 5}),    // fp4_e2m1
          short_codes({5, 0, true, true, 16}),   // log with zero
          short_codes({4, 0, true, false, 9}),   // log without
          short_codes({2, 0, true, true, 2}),    // ternary
          short_codes({1, 0, true, false, 2}),   // binary
          short_codes({7, 3, false, true, 18}),  // without a sign, as behind a relu
          short_codes({3, 0, false, true, 7}),
          short_codes({5, 4, true, true, 5}),   // sign and magnitude
          short_codes({9, 5, true, true, 12}),  // wide significands, exponents that do not occur
          whole_numbers(8, true),
          whole_numbers(4, true),
          whole_numbers(7, false),
          whole_numbers(1, false)};
}

Codes occurring_codes(Random& random, const FloatOperand& operand, std::int64_t count) {
  Codes codes;
  while (std::ssize(codes) < count) {
    const std::int64_t code = random_codes(random, operand.type, 1).front();
    // Zero, and the least numbers beside it, are as likely as the ends.
    const std::int64_t near = operand.type.is_signed && random.below(2) == 0 ? -1 : 0;
    const std::int64_t drawn = random.below(8) == 0 ? near : code;
    if (operand.occurs(drawn)) codes.push_back(drawn);
  }
  return codes;
}

/// Codes for the greatest sum with `weights`, or for the least.
Codes most_codes(const FloatOperand& operand, const std::vector<Wide>& weights, bool greatest) {
  Codes codes;
  for (const Wide weight : weights) {
    std::optional<std::int64_t> best;
    for (auto code = static_cast<std::int64_t>(operand.type.low()); code <= operand.type.high();
         ++code) {
      if (!operand.occurs(code)) continue;
      const Wide product = weight * operand.number(code);
      const bool more = best && product > weight * operand.number(*best);
      if (!best || (product != weight * operand.number(*best) && more == greatest)) best = code;
    }
    codes.push_back(*best);
  }
  return codes;
}

struct FloatShape {
  std::int64_t sf = 1, nf = 1, simd = 8, pe = 1;
  int multiplier = 2;
  std::optional<std::int64_t> stages = std::nullopt;  ///< other than those that follow
  bool decode = false;                                ///< in front of Booth rows
};

Wide float_dot(const FloatOperand& in, const Codes& codes, const std::vector<Wide>& weights) {
  Wide sum = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) sum += weights[i] * in.number(codes[i]);
  return sum;
}

struct FloatSums {
  Port in, out;
  Wide low = 0, high = 0;
};

/// The greatest sums of every output, then random ones.
FloatSums float_sums(Random& random, const FloatOperand& in,
                     const std::vector<std::vector<Wide>>& weights, std::int64_t simd) {
  FloatSums sums{{simd, in.type, {}}, {1, {}, {}}};
  for (const auto& row : weights) {
    sums.low = std::min(sums.low, float_dot(in, most_codes(in, row, false), row));
    sums.high = std::max(sums.high, float_dot(in, most_codes(in, row, true), row));
  }
  const auto inputs = std::ssize(weights.front());
  for (std::int64_t frame = 0; frame < kFloatFrames; ++frame) {
    const std::uint64_t row = random.below(weights.size());
    const Codes x = frame < 8 ? most_codes(in, weights[row], frame % 2 == 0)
                              : occurring_codes(random, in, inputs);
    sums.in.codes.insert(sums.in.codes.end(), x.begin(), x.end());
  }
  return sums;
}

Case float_case(Random& random, const FloatOperand& in, const FloatOperand& weight,
                const FloatShape& shape, int index) {
  const std::int64_t inputs = shape.sf * shape.simd, outputs = shape.nf * shape.pe;
  std::vector<std::vector<Wide>> weights;
  std::vector<Codes> codes;
  for (std::int64_t o = 0; o < outputs; ++o) {
    const Codes ends = most_codes(weight, std::vector<Wide>(static_cast<std::size_t>(inputs), 1),
                                  random.below(2) == 0);
    codes.push_back(random.below(4) == 0 ? ends : occurring_codes(random, weight, inputs));
    std::vector<Wide>& row = weights.emplace_back();
    for (const std::int64_t code : codes.back()) row.push_back(weight.number(code));
  }
  FloatSums sums = float_sums(random, in, weights, shape.simd);
  const int bits = integer::signed_width(sums.low, sums.high);
  const FixedType out{std::min(bits, 40), 0, true};
  // Low bits of long sums, clamped, or their high bits.
  const int shift = bits > 40 && random.below(2) == 0 ? bits - 40 : 0;
  const Requantise requantise{shift, 1, formats::Rounding::floor,
                              static_cast<std::int64_t>(out.low()),
                              static_cast<std::int64_t>(out.high())};
  design::LinearModule module;
  module.columns = shape.sf;
  module.passes = shape.nf;
  module.simd = shape.simd;
  module.pe = shape.pe;
  static_cast<design::Operands&>(module) = {in.type.width, in.type.is_signed, weight.type.width,
                                            weight.type.is_signed, bits};
  if (in.code) module.set_in_code(*in.code);
  if (weight.code) module.set_weight_code(*weight.code);
  module.has_bias = false;
  static_cast<design::Requantisation&>(module) = design::requantisation(requantise, out);
  module.multiplier = shape.multiplier;
  if (shape.multiplier == 2)
    module.term_stages = shape.stages ? shape.stages : design::term_stages_of(module);
  if (shape.decode) module.set_decode();
  module.weight_file = "float_" + std::to_string(index) + ".mem";
  std::vector<Wide> image;
  for (std::int64_t n = 0; n < shape.nf; ++n)
    for (std::int64_t s = 0; s < shape.sf; ++s)
      for (std::int64_t p = 0; p < shape.pe; ++p)
        for (std::int64_t c = 0; c < shape.simd; ++c)
          image.push_back(codes[static_cast<std::size_t>(n * shape.pe + p)]
                               [static_cast<std::size_t>(s * shape.simd + c)]);
  sums.out = {shape.pe, out, {}};
  for (std::int64_t frame = 0; frame < kFloatFrames; ++frame) {
    const auto* x = sums.in.codes.data() + frame * inputs;
    for (const auto& row : weights)
      sums.out.codes.push_back(
          static_cast<std::int64_t>(requantise(float_dot(in, {x, x + inputs}, row))));
  }
  const int word = weight.type.width;
  return case_of(module, {sums.in}, {sums.out},
                 {{module.weight_file, "", "", shape.simd * shape.pe * word,
                   design::vector_words(image, shape.simd * shape.pe, word)}});
}

TEST_CASE("sums of products of short codes in RTL are exact for pairs of formats") {
  Random random(31);
  std::vector<Case> cases;
  const std::vector<FloatOperand> operands = float_operands();
  // Every seventh pair, so that each format meets others on either side.
  for (std::size_t pair = 0; pair < operands.size() * operands.size(); pair += 7) {
    const FloatOperand& in = operands[pair / operands.size()];
    const FloatOperand& weight = operands[pair % operands.size()];
    if (!in.code && !weight.code) continue;
    FloatShape shape{between(random, 1, 2), between(random, 1, 2), between(random, 1, 9),
                     between(random, 1, 2)};
    if (random.below(4) == 0) shape.multiplier = static_cast<int>(random.below(2));
    if (random.below(4) == 0) shape.stages = between(random, 0, 2);
    shape.decode = random.below(4) == 0;
    cases.push_back(float_case(random, in, weight, shape, static_cast<int>(pair)));
  }
  // Signs are counted, in any number of lanes.
  const FloatOperand sign = short_codes({1, 0, true, false, 2});
  for (const std::int64_t lanes : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33})
    cases.push_back(
        float_case(random, sign, sign, {1, 2, lanes, 1}, static_cast<int>(1000 + lanes)));
  // Exponents that occur have fewer bits than those of all codes.
  const FloatOperand few = short_codes({6, 2, true, true, 7}), whole = whole_numbers(8, true);
  cases.push_back(float_case(random, few, whole, {2, 1, 4, 1}, 2000));
  cases.push_back(float_case(random, whole, few, {2, 1, 4, 1}, 2001));
  cases.push_back(float_case(random, few, few, {2, 1, 4, 1}, 2002));
  check_cases(cases, kFloatFrames);
}

}  // namespace
}  // namespace mase::rtl_test
