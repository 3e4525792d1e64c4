// SPDX-License-Identifier: Apache-2.0
// Products of streams in RTL against sums of products computed here.
#include <algorithm>
#include <catch2/catch.hpp>

#include "hardware/design/modules/matmul.hpp"
#include "support/module_bench.hpp"

namespace mase::rtl_test {
namespace {

using integer::Codes;
using integer::FixedType;
using integer::Wide;

constexpr std::int64_t product_frames = 12;

std::int64_t any_of(Random& random, const std::vector<std::int64_t>& values) {
  return values[random.below(values.size())];
}

/// A frame: `sets` matrices of [outputs][inputs], each for `repeat` rows, `rounds` times.
struct Product {
  std::int64_t sf = 1, nf = 1, sets = 1, repeat = 1, rounds = 1, simd = 1, pe = 1;
  bool transposed = false, interleaved = false;

  std::int64_t inputs() const { return sf * simd; }
  std::int64_t outputs() const { return nf * pe; }
  std::int64_t rows() const { return sets * repeat * rounds; }

  /// Where a weight lies in a frame of matrices, as the module's text says.
  std::int64_t place(std::int64_t set, std::int64_t output, std::int64_t input) const {
    const std::int64_t row = transposed ? input : output, column = transposed ? output : input,
                       all = transposed ? inputs() : outputs(),
                       length = transposed ? outputs() : inputs();
    return (interleaved ? row * sets + set : set * all + row) * length + column;
  }
};

Case product_case(Random& random, const Product& shape, const FixedType& a, const FixedType& b,
                  const FixedType& out, int multiplier) {
  const std::int64_t size = shape.sets * shape.outputs() * shape.inputs();
  Port rows = random_port(random, shape.simd, a, product_frames * shape.rows() * shape.sf);
  const std::int64_t lanes = shape.transposed ? shape.pe : shape.simd;
  Port matrices = random_port(random, lanes, b, product_frames * size / lanes);
  // Every fourth frame of both is at an end of its range.
  for (std::int64_t f = 0; f < product_frames; f += 4) {
    const bool least = f % 8 == 0;
    std::fill_n(rows.codes.begin() + f * shape.rows() * shape.inputs(),
                shape.rows() * shape.inputs(),
                static_cast<std::int64_t>(least ? a.low() : a.high()));
    std::fill_n(matrices.codes.begin() + f * size, size,
                static_cast<std::int64_t>(least ? b.low() : b.high()));
  }
  const Wide most = std::max(a.high(), -a.low()) * std::max(b.high(), -b.low()) * shape.inputs();
  const int bits = integer::signed_width(-most, most);
  const int shift = std::max(-2, bits - out.width - 1);
  const integer::Requantise requantise = random_requantise(random, out, shift);
  const bool halves = requantise.rounding == formats::Rounding::nearest_even && shift > 0;
  const Wide half = halves ? Wide{1} << (shift - 1) : Wide{0};
  Port results{shape.pe, out, {}};
  for (std::int64_t f = 0; f < product_frames; ++f)
    for (std::int64_t r = 0; r < shape.rows(); ++r)
      for (std::int64_t o = 0; o < shape.outputs(); ++o) {
        Wide sum = 0;
        for (std::int64_t i = 0; i < shape.inputs(); ++i)
          sum += Wide{rows.codes[static_cast<std::size_t>((f * shape.rows() + r) * shape.inputs() +
                                                          i)]} *
                 matrices.codes[static_cast<std::size_t>(
                     f * size + shape.place(r / shape.repeat % shape.sets, o, i))];
        results.codes.push_back(static_cast<std::int64_t>(requantise(sum)));
      }
  design::MatmulModule module{
      {},           shape.sf,   shape.nf, shape.sets,       shape.repeat,
      shape.rounds, shape.simd, shape.pe, shape.transposed, shape.interleaved};
  static_cast<design::Operands&>(module) = {
      a.width, a.is_signed, b.width, b.is_signed, bits + (halves ? 1 : 0), halves};
  static_cast<design::Requantisation&>(module) = design::requantisation(requantise, out);
  module.start.value = half;
  module.multiplier = multiplier;
  return case_of(module, {rows, matrices}, {results});
}

FixedType any_type(Random& random, const std::vector<std::int64_t>& widths) {
  return {static_cast<int>(any_of(random, widths)), 0, random.below(3) != 0};
}

TEST_CASE("products of streams in RTL equal the sums of products at every fold, order and width") {
  Random random(41);
  std::vector<Case> cases;
  while (cases.size() < 30) {
    const Product shape{any_of(random, {1, 1, 2, 3, 5}),
                        any_of(random, {1, 1, 2, 3, 4}),
                        any_of(random, {1, 1, 2, 3}),
                        any_of(random, {1, 1, 2, 5}),
                        any_of(random, {1, 2, 3}),
                        any_of(random, {1, 2, 3, 4, 8}),
                        any_of(random, {1, 2, 3, 4}),
                        random.below(2) == 0,
                        random.below(2) == 0};
    cases.push_back(product_case(
        random, shape, any_type(random, {1, 2, 4, 8, 8, 11}), any_type(random, {1, 3, 4, 8, 8, 13}),
        any_type(random, {1, 4, 8, 16}), static_cast<int>(any_of(random, {0, 1, 2}))));
  }
  check_cases(cases, product_frames);
}

TEST_CASE("products of streams in RTL keep large matrices in block memory") {
  Random random(42);
  const FixedType byte{8, 0, true};
  std::vector<Case> cases;
  cases.push_back(product_case(random, {9, 5, 3, 1, 4, 4, 2, false, true}, byte, byte, byte, 0));
  cases.push_back(product_case(random, {9, 5, 3, 2, 1, 2, 4, true, true}, byte, byte, byte, 0));
  cases.push_back(product_case(random, {70, 2, 1, 1, 3, 8, 1, false, false}, byte, byte, byte, 2));
  check_cases(cases, product_frames);
}

}  // namespace
}  // namespace mase::rtl_test
