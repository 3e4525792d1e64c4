// SPDX-License-Identifier: Apache-2.0
// Products of blocks in RTL: elements and weights whose groups share exponents, against sums of the
// numbers that they stand for.
#include <catch2/catch.hpp>

#include "hardware/design/building/memory_image.hpp"
#include "hardware/design/modules/block_join.hpp"
#include "hardware/design/modules/linear.hpp"
#include "support/module_bench.hpp"

namespace mase::rtl_test {
namespace {

using integer::Codes;
using integer::FixedType;
using integer::Requantise;
using integer::Wide;

constexpr std::int64_t block_frames = 40;

/// A layer whose beats of `simd` inputs, and whose groups of `simd` weights, share exponents.
struct BlockLayer {
  std::int64_t columns = 2, passes = 2, simd = 4, pe = 2;
  FixedType in{8, 0, true}, weight{8, 0, true};  ///< of numbers or codes
  int in_exponent = 3, weight_exponent = 2;      ///< bits; 0: none
  int multiplier = 2;
  int unit = 0;  ///< all products are shifted left by so many bits, too
  std::optional<integer::FloatCode> in_code = std::nullopt, weight_code = std::nullopt;
  bool decode = false;                   ///< whether Booth rows take the numbers of codes
  int in_factor = 0, weight_factor = 0;  ///< bits
  bool whole_dots = false;               ///< sums of a beat have all bits of the accumulator

  std::int64_t inputs() const { return columns * simd; }
  std::int64_t outputs() const { return passes * pe; }
};

/// Codes of a type, and an exponent and a factor for every `simd` of them.
struct Numbers {
  Codes elements, exponents, factors;
  std::optional<integer::FloatCode> code;
  Wide at(std::int64_t i, std::int64_t simd) const {
    const auto group = static_cast<std::size_t>(i / simd);
    const std::int64_t exponent = exponents.empty() ? 0 : exponents[group];
    const std::int64_t element = elements[static_cast<std::size_t>(i)];
    const std::int64_t factor = factors.empty() ? 1 : factors[group];
    return Wide{code ? code->number(element) : element} * factor << exponent;
  }
};

Numbers random_numbers(Random& random, const FixedType& type,
                       const std::optional<integer::FloatCode>& code, std::int64_t count,
                       std::int64_t simd, int exponent_bits) {
  Numbers numbers{random_codes(random, type, count), {}, {}, code};
  if (exponent_bits > 0)
    numbers.exponents = random_codes(random, {exponent_bits, 0, false}, count / simd);
  return numbers;
}

/// Beats as words: elements, the exponent above them, and the factor above that.
Port words_of(const Numbers& numbers, const BlockLayer& layer) {
  const int bits =
      static_cast<int>(layer.simd) * layer.in.width + layer.in_exponent + layer.in_factor;
  Port port{1, {bits, 0, false}, {}};
  const auto mask = (std::int64_t{1} << layer.in.width) - 1;
  for (std::size_t beat = 0; beat < numbers.elements.size() / static_cast<std::size_t>(layer.simd);
       ++beat) {
    std::int64_t word = numbers.exponents.empty() ? 0 : numbers.exponents[beat];
    if (!numbers.factors.empty()) word += numbers.factors[beat] << layer.in_exponent;
    for (std::int64_t c = layer.simd - 1; c >= 0; --c)
      word =
          (word << layer.in.width) | (numbers.elements[beat * static_cast<std::size_t>(layer.simd) +
                                                       static_cast<std::size_t>(c)] &
                                      mask);
    port.codes.push_back(word);
  }
  return port;
}

design::LinearModule module_of(const BlockLayer& layer, const Requantise& requantise,
                               const FixedType& to, int sum_bits) {
  design::LinearModule module;
  static_cast<design::Operands&>(module) = {layer.in.width, layer.in.is_signed, layer.weight.width,
                                            layer.weight.is_signed, sum_bits};
  if (layer.in_code) module.set_in_code(*layer.in_code);
  if (layer.weight_code) module.set_weight_code(*layer.weight_code);
  if (layer.in_exponent > 0) module.in_exponent = layer.in_exponent;
  if (layer.weight_exponent > 0) module.weight_exponent = layer.weight_exponent;
  if (layer.weight_factor > 0) module.weight_factor = layer.weight_factor;
  if (layer.in_factor > 0) module.in_factor = layer.in_factor;
  module.dot_bits = module.signed_in() + module.signed_weight() + design::log2_ceiling(layer.simd);
  if (layer.whole_dots) module.dot_bits = sum_bits;
  static_cast<design::Requantisation&>(module) = design::requantisation(requantise, to);
  module.has_bias = false;
  module.multiplier = layer.multiplier;
  if (layer.unit > 0) module.weight_unit = layer.unit;
  if (layer.decode)
    module.set_decode();
  else
    module.term_stages = design::term_stages_of(module);
  module.columns = layer.columns;
  module.passes = layer.passes;
  module.simd = layer.simd;
  module.pe = layer.pe;
  return module;
}

Case block_case(Random& random, const BlockLayer& layer, int index) {
  Numbers weights =
      random_numbers(random, layer.weight, layer.weight_code, layer.inputs() * layer.outputs(),
                     layer.simd, layer.weight_exponent);
  if (layer.weight_factor > 0)
    weights.factors =
        random_codes(random, {layer.weight_factor, 0, false}, std::ssize(weights.exponents));
  Numbers x = random_numbers(random, layer.in, layer.in_code, block_frames * layer.inputs(),
                             layer.simd, layer.in_exponent);
  if (layer.in_factor > 0)
    x.factors = random_codes(random, {layer.in_factor, 0, false}, std::ssize(x.exponents));
  const auto bits = [](const FixedType& type, const auto& code, int exponent) {
    return (code ? code->number_width : type.width) + (exponent > 0 ? (1 << exponent) - 1 : 0);
  };
  const int sum_bits = bits(layer.in, layer.in_code, layer.in_exponent) +
                       bits(layer.weight, layer.weight_code, layer.weight_exponent) +
                       design::log2_ceiling(layer.inputs()) + 1 + layer.unit + layer.weight_factor +
                       layer.in_factor;
  const FixedType to{16, 0, true};
  const Requantise requantise = random_requantise(random, to, sum_bits - 18);
  Port out{layer.pe, to, {}};
  for (std::int64_t frame = 0; frame < block_frames; ++frame)
    for (std::int64_t o = 0; o < layer.outputs(); ++o) {
      Wide sum = 0;
      for (std::int64_t i = 0; i < layer.inputs(); ++i)
        sum += x.at(frame * layer.inputs() + i, layer.simd) *
               weights.at(o * layer.inputs() + i, layer.simd);
      out.codes.push_back(static_cast<std::int64_t>(requantise(sum << layer.unit)));
    }
  design::LinearModule module = module_of(layer, requantise, to, sum_bits);
  module.weight_file = "blocks_" + std::to_string(index) + ".mem";
  const auto widened = [](const Codes& codes) {
    return std::vector<Wide>(codes.begin(), codes.end());
  };
  Case test = case_of(module, {words_of(x, layer)}, {out});
  design::Memory memory{module.weight_file, "", "weight", module.weight_word(module.shape()), {}};
  Codes scales = weights.exponents;
  for (std::size_t i = 0; i < weights.factors.size(); ++i)
    scales[i] += weights.factors[i] << layer.weight_exponent;
  memory.words = design::matrix_words(
      widened(weights.elements), widened(scales), {1, layer.outputs(), layer.inputs()}, layer.simd,
      layer.pe, layer.weight.width, layer.weight_exponent + layer.weight_factor);
  test.memories.push_back(std::move(memory));
  return test;
}

}  // namespace

TEST_CASE("sums in RTL are shifted by the exponents of their operands and weights") {
  Random random(91);
  std::vector<Case> cases;
  int index = 0;
  for (const int multiplier : {0, 1, 2}) {
    const auto add = [&](BlockLayer layer) {
      layer.multiplier = multiplier;
      cases.push_back(block_case(random, layer, index++));
    };
    add({2, 2, 4, 2, {8, 0, true}, {8, 0, true}, 3, 2});
    add({3, 1, 1, 3, {5, 0, false}, {4, 0, true}, 2, 0});
    add({1, 4, 9, 1, {3, 0, true}, {3, 0, false}, 0, 3});
    add({4, 2, 2, 1, {8, 0, false}, {6, 0, true}, 4, 1});
    add({2, 2, 4, 2, {8, 0, true}, {8, 0, true}, 3, 2, multiplier, 5});
  }
  check_cases(cases, block_frames);
}

TEST_CASE("sums in RTL of products of codes are shifted by the exponents of both") {
  using integer::FloatCode;
  const FloatCode e2m1{4, 1, true, true, 5}, e4m3{7, 3, false, true, 18},
      e3m2{6, 2, true, true, 10}, log{4, 0, true, true, 8};
  Random random(93);
  std::vector<Case> cases;
  int index = 0;
  const auto add = [&](BlockLayer layer, const std::optional<FloatCode>& in,
                       const std::optional<FloatCode>& weight) {
    if (in) layer.in = in->type();
    if (weight) layer.weight = weight->type();
    layer.in_code = in;
    layer.weight_code = weight;
    for (const bool decode : {false, true}) {
      layer.decode = decode;
      cases.push_back(block_case(random, layer, 20 + index++));
    }
    layer.multiplier = 1;
    cases.push_back(block_case(random, layer, 20 + index++));
  };
  add({.columns = 3, .in_exponent = 4, .weight_exponent = 2}, e2m1, e2m1);
  add({.passes = 1, .simd = 5, .in_exponent = 2, .weight_exponent = 3}, e4m3, log);
  add({.in_exponent = 3, .weight_exponent = 1}, std::nullopt, e3m2);
  add({.simd = 1, .in_exponent = 3, .weight_exponent = 2}, e3m2, std::nullopt);
  add({.simd = 8, .pe = 1, .in_exponent = 0, .weight_exponent = 2}, log, e2m1);
  check_cases(cases, block_frames);
}

TEST_CASE("sums in RTL are multiplied by the factors of their operands and weights") {
  const integer::FloatCode e2m1{4, 1, true, true, 5};
  Random random(94);
  std::vector<Case> cases;
  int index = 40;
  for (const int multiplier : {0, 1, 2})
    for (const int factor : {1, 4}) {
      BlockLayer layer{.multiplier = multiplier, .weight_factor = factor};
      cases.push_back(block_case(random, layer, index++));
      std::swap(layer.in_factor, layer.weight_factor);
      cases.push_back(block_case(random, layer, index++));
      std::swap(layer.in_factor, layer.weight_factor);
      layer.unit = 3;
      layer.in_exponent = 0;
      cases.push_back(block_case(random, layer, index++));
      // Sums with the unit, and with the factor, have more bits than the accumulator.
      layer.whole_dots = true;
      cases.push_back(block_case(random, layer, index++));
      layer.weight_factor = 0;
      layer.in_exponent = 3;
      cases.push_back(block_case(random, layer, index++));
      layer = {.columns = 3, .passes = 1, .simd = 8, .multiplier = multiplier};
      layer.weight_factor = factor;
      layer.in_factor = 5 - factor;
      layer.in = layer.weight = e2m1.type();
      layer.in_code = layer.weight_code = e2m1;
      cases.push_back(block_case(random, layer, index++));
    }
  check_cases(cases, block_frames);
}

TEST_CASE("elements in RTL get the exponent that they share above them") {
  Random random(92);
  std::vector<Case> cases;
  for (const int width : {1, 12, 40}) {
    const Port a = random_port(random, 1, {width, 0, false}, block_frames * 3);
    const Port b = random_port(random, 1, {4, 0, false}, block_frames * 3);
    Port out{1, {width + 4, 0, false}, {}};
    for (std::size_t i = 0; i < a.codes.size(); ++i)
      out.codes.push_back((b.codes[i] << width) | a.codes[i]);
    cases.push_back(case_of(design::BlockJoinModule{width, 4}, {a, b}, {out}));
  }
  check_cases(cases, block_frames);
}

}  // namespace mase::rtl_test
