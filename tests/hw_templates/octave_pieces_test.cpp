// SPDX-License-Identifier: Apache-2.0
// mase_octave_pieces against lines found by counting the zeros of each element.
#include "hardware/design/modules/octave_pieces.hpp"

#include <catch2/catch.hpp>

#include "hardware/design/building/memory_image.hpp"
#include "hardware/integer/steps/octave_pieces.hpp"
#include "support/module_bench.hpp"

namespace mase::rtl_test {
namespace {

using integer::Codes;
using integer::FixedType;
using integer::OctavePieces;
using integer::Requantise;
using integer::Wide;

constexpr std::int64_t kOctaveFrames = 48;

/// Elements of every magnitude, the ends and the powers of two among them.
Codes octave_codes(Random& random, const FixedType& type, std::int64_t count) {
  Codes codes{static_cast<std::int64_t>(type.low()), static_cast<std::int64_t>(type.high()), 0};
  for (int bit = 0; bit < type.width - 1; ++bit) {
    codes.push_back(std::int64_t{1} << bit);
    codes.push_back((std::int64_t{1} << bit) - 1);
    if (type.is_signed) codes.push_back(-(std::int64_t{1} << bit));
  }
  while (std::ssize(codes) < count)
    codes.push_back(random_codes(random, type, 1).front() >> between(random, 0, type.width - 1));
  codes.resize(static_cast<std::size_t>(count));
  return codes;
}

/// A step of random lines.
OctavePieces random_pieces(Random& random, const FixedType& from) {
  OctavePieces pieces;
  pieces.input = from;
  pieces.octave_bits = static_cast<int>(between(random, 2, from.width > 20 ? 6 : 4));
  pieces.piece_bits = static_cast<int>(between(random, 1, 4));
  const int left = pieces.magnitude_bits() - pieces.piece_bits;
  pieces.low_bits = static_cast<int>(between(random, 1, std::min(left, 14)));
  pieces.slope_type = {static_cast<int>(between(random, 1, 9)), 0, random.below(3) != 0};
  const auto count = static_cast<std::int64_t>(pieces.pieces());
  pieces.slope = random_codes(random, pieces.slope_type, count);
  for (const std::int64_t base : random_codes(random, {20, 0, true}, count))
    pieces.base.push_back(base);
  return pieces;
}

/// The result by the definition, one bit after the other.
Wide line_of(const OctavePieces& pieces, std::int64_t code) {
  const int bits = pieces.magnitude_bits(), last = (1 << pieces.octave_bits) - 1;
  const std::int64_t magnitude = code < 0 ? -code - 1 : code;
  const auto bit = [&](int at) { return at < 0 ? 0 : (magnitude >> at) & 1; };
  int at = bits - 1, octave = 0;
  for (; octave < last && (at < 0 || bit(at) == 0); --at) ++octave;
  if (octave < last) --at;
  std::int64_t piece = code < 0 ? 1 : 0, low = 0;
  piece = (piece << pieces.octave_bits) + octave;
  for (int i = 0; i < pieces.piece_bits; ++i) piece = 2 * piece + bit(at--);
  for (int i = 0; i < pieces.low_bits; ++i) low = 2 * low + bit(at--);
  const auto s = static_cast<std::size_t>(piece);
  return pieces.base[s] + Wide{pieces.slope[s]} * low;
}

std::vector<Wide> words_of(const OctavePieces& pieces) {
  const std::int64_t power = std::int64_t{1} << pieces.slope_type.width;
  std::vector<Wide> words;
  for (std::size_t s = 0; s < pieces.slope.size(); ++s)
    words.push_back(pieces.base[s] * power + (pieces.slope[s] & (power - 1)));
  return words;
}

Case octave_case(Random& random, int index) {
  const FixedType from{static_cast<int>(index == 0 ? 62 : between(random, 8, 62)), 0,
                       random.below(2) == 0};
  const FixedType to{static_cast<int>(between(random, 1, 16)), 0, random.below(2) == 0};
  const OctavePieces pieces = random_pieces(random, from);
  const integer::Interval sums = pieces.accumulators();
  const int sum_bits = integer::signed_width(sums.low, sums.high);
  const Requantise requantise =
      random_requantise(random, to, std::max(0, sum_bits - to.width) + index % 3);
  Port in{between(random, 1, 3), from, {}};
  in.codes = octave_codes(random, from, in.lanes * kOctaveFrames * 70);
  Port out{in.lanes, to, {}};
  for (const std::int64_t code : in.codes) {
    REQUIRE(pieces(code) == line_of(pieces, code));
    out.codes.push_back(static_cast<std::int64_t>(requantise(line_of(pieces, code))));
  }
  design::OctavePiecesModule module{{design::requantisation(requantise, to)}};
  module.lanes = in.lanes;
  module.element_bits = from.width;
  module.element_signed = from.is_signed;
  module.octave_bits = pieces.octave_bits;
  module.piece_bits = pieces.piece_bits;
  module.low_bits = pieces.low_bits;
  module.slope_bits = pieces.slope_type.width;
  module.slope_signed = pieces.slope_type.is_signed;
  module.base_bits = 20;
  module.sum_bits = sum_bits;
  module.multiplier = index % 3;
  module.file = "octaves_" + std::to_string(index) + ".mem";
  const int width = module.slope_bits + module.base_bits;
  return case_of(module, {in}, {out},
                 {{module.file, "", "", width, design::vector_words(words_of(pieces), 1, width)}});
}

}  // namespace

TEST_CASE("pieces in octaves in RTL are the lines of each element's leading one, requantised") {
  Random random(19);
  std::vector<Case> cases;
  for (int i = 0; i < 24; ++i) cases.push_back(octave_case(random, i));
  check_cases(cases, kOctaveFrames);
}

TEST_CASE("the inputs of the pieces in octaves are all inputs, each once") {
  Random random(20);
  for (int i = 0; i < 40; ++i) {
    const FixedType from{static_cast<int>(between(random, 8, 14)), 0, random.below(2) == 0};
    const OctavePieces pieces = random_pieces(random, from);
    std::int64_t seen = 0;
    for (std::size_t s = 0; s < pieces.pieces(); ++s) {
      const integer::Interval inputs = pieces.inputs(s);
      for (Wide code = inputs.low; code <= inputs.high; ++code, ++seen)
        REQUIRE(pieces.place(static_cast<std::int64_t>(code)).piece == s);
    }
    CHECK(seen == std::int64_t{1} << from.width);
  }
}

}  // namespace mase::rtl_test
