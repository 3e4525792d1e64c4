// SPDX-License-Identifier: Apache-2.0
// Memory images against words written out by hand from the layout in hw_templates/README.md.
#include <catch2/catch.hpp>

#include "hardware/design/building/memory_image.hpp"

using namespace mase;
using namespace mase::design;

TEST_CASE("a word has its first code in the low bits, two's complement, whole hex digits") {
  const std::vector<Wide> codes{1, -1, 2};
  // 4 bits each: 0010 1111 0001.
  CHECK(pack_word(codes, 4) == "2f1");
  // 3 bits each: 010 111 001 = 0 1011 1001 in 9 bits, three digits.
  CHECK(pack_word(codes, 3) == "0b9");
  // 5 bits: 00010 11111 00001 = 000 1011 1110 0001.
  CHECK(pack_word(codes, 5) == "0be1");
  CHECK(pack_word(std::vector<Wide>{1}, 1) == "1");
  CHECK(pack_word(std::vector<Wide>{-1}, 65) == "1ffffffffffffffff");
}

TEST_CASE("weights come in the order in which a folded linear reads them") {
  // Two rows of four columns, w[o][i] = 4*o + i, 4 bits.
  const std::vector<Wide> weights{0, 1, 2, 3, 4, 5, 6, 7};
  // SIMD 2, PE 1: word n*SF + s = columns 2s, 2s+1 of row n; column 0 in the low bits.
  CHECK(matrix_words(weights, {1, 2, 4}, 2, 1, 4) ==
        std::vector<std::string>{"10", "32", "54", "76"});
  // SIMD 2, PE 2: row p, column c at bit (p*SIMD + c)*4.
  CHECK(matrix_words(weights, {1, 2, 4}, 2, 2, 4) == std::vector<std::string>{"5410", "7632"});
  // SIMD 1, PE 2.
  CHECK(matrix_words(weights, {1, 2, 4}, 1, 2, 4) ==
        std::vector<std::string>{"40", "51", "62", "73"});
}

TEST_CASE("weight sets follow each other") {
  // Two sets of one row and two columns.
  const std::vector<Wide> weights{1, 2, 3, 4};
  CHECK(matrix_words(weights, {2, 1, 2}, 1, 1, 4) == std::vector<std::string>{"1", "2", "3", "4"});
  CHECK(matrix_words(weights, {2, 1, 2}, 2, 1, 4) == std::vector<std::string>{"21", "43"});
}

TEST_CASE("depthwise words hold one tap of a block of channels") {
  // Four channels of three taps, w[channel][tap] = 3*channel + tap.
  std::vector<Wide> weights;
  for (int i = 0; i < 12; ++i) weights.push_back(i);
  // Lanes 2: block 0 (channels 0 and 1) taps 0, 1, 2, then block 1.
  CHECK(matrix_words(weights, {2, 2, 3}, 1, 2, 4) ==
        std::vector<std::string>{"30", "41", "52", "96", "a7", "b8"});
  CHECK(vector_words(weights, 4, 4) == std::vector<std::string>{"3210", "7654", "ba98"});
}
