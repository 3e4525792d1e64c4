// SPDX-License-Identifier: Apache-2.0
// Block formats as values: parameters, shapes, bits, ranges, saturation and refusals.
#include <catch2/catch.hpp>
#include <limits>

#include "formats/format_support.hpp"

using namespace mase;
using namespace mase::formats;
using Catch::Contains;

TEST_CASE("a block's shared bits count for its real elements") {
  CHECK(parse_format("block_fp(8, 8)").bits_per_element({4, 32}) == 8.5);
  // Rows of 20 have a block of 16 and one of 4: 2 * 8 bits for 20 elements.
  CHECK(parse_format("block_fp(8, 8)").bits_per_element({4, 20}) == 8.8);
  // Without skip_first_dim a block spans all rows.
  CHECK(parse_format("block_minifloat(8, 4, 8)").bits_per_element({4, 32}) == 8 + 8 / 64.0);
  CHECK(parse_format("block_log(4, 8, block_size=[-1], skip_first_dim=true)")
            .bits_per_element({4, 32}) == 4 + 8 / 32.0);
  CHECK(parse_format("block_fp(8, 8)").bits_per_element({0, 32}) == 8);
}

TEST_CASE("the range of a block format is that of its highest exponent") {
  CHECK(parse_format("block_fp(4, 4, 7)").range().high == 256 * 7 / 8.0);
  CHECK(parse_format("block_minifloat(8, 4, 4)").range().high == 128 * 1.875);
  CHECK(parse_format("block_log(4, 3)").range().low == -8);
}

TEST_CASE("values beyond a block's largest magnitude saturate") {
  // P = 4 gives E = 3 and steps of 1/16; 15.9 / 16 of 8 is 7.9375.
  const std::vector<float> in{4.0F,
                              -1.0F,
                              7.95F,
                              -std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN(),
                              7.9375F};
  std::vector<std::uint8_t> mask(in.size());
  parse_format("block_fp(8, 8)").saturates(in, mask, {6});
  CHECK(mask == std::vector<std::uint8_t>{0, 0, 1, 1, 0, 0});
  const std::vector<float> out = quantized("block_fp(8, 8)", in, {6});
  CHECK(out[2] == 7.9375F);
  CHECK(out[3] == -7.9375F);
  CHECK(std::isnan(out[4]));
}

TEST_CASE("blocks of zeros, infinities and NaN have the lowest exponent") {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> out = quantized("block_fp(4, 4, 7)", {0.0F, -0.0F, inf, -inf}, {4});
  CHECK(out[0] == 0.0F);
  CHECK(std::signbit(out[1]));
  CHECK(out[2] == 0x7p-10F);  // 7/8 * 2^-7
  CHECK(out[3] == -0x7p-10F);
  CHECK(quantized("block_log(4, 4)", {inf, 0.0F}, {2}) == std::vector<float>{1.0F, 0.0F});
  CHECK(quantized("block_minifloat(6, 3, 4)", {-inf, 0.0F}, {2}) ==
        std::vector<float>{-1.75F, 0.0F});
}

TEST_CASE("leading dimensions are merged when max_rank says so") {
  std::vector<float> in(2 * 2 * 2 * 4);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * i) + 0.3F;
  const std::string format = "block_fp(5, 8, block_size=[2, 4]";
  CHECK(quantized(format + ", max_rank=3)", in, {2, 2, 2, 4}) ==
        quantized(format + ")", in, {4, 2, 4}));
}

TEST_CASE("NaN has no block code") {
  const Format format = parse_format("block_log(8, 8)");
  std::vector<float> in(40, 1.0F);
  in[37] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(format.encode(in, {40}), Contains("element 37 is NaN"));
}

TEST_CASE("profile mase refuses the shapes and roundings that the reference system refuses") {
  CHECK_THROWS_WITH(parse_format("block_fp(8, 8, profile=mase, rounding=floor)"),
                    Contains("no rounding 'floor'"));
  const Format skip = parse_format("block_fp(8, 8, skip_first_dim=true, profile=mase)");
  CHECK_THROWS_WITH(skip.check({50}), Contains("skip_first_dim = true"));
  CHECK_NOTHROW(skip.check({3, 6, 20}));
  const Format whole = parse_format("block_fp(8, 8, skip_first_dim=false, profile=mase)");
  CHECK_THROWS_WITH(whole.check({3, 6, 20}), Contains("skip_first_dim = false"));
  CHECK_THROWS_WITH(skip.check({8, 4, 3, 3}), Contains("max_rank = 3"));
  CHECK_NOTHROW(parse_format("block_fp(8, 8, skip_first_dim=true, profile=mase, max_rank=3)")
                    .check({8, 4, 3, 3}));
  CHECK_THROWS_WITH(whole.encode(std::vector<float>(4), {4}), Contains("off its grid"));
}

TEST_CASE("block parameters that do not exist are refused") {
  CHECK_THROWS_WITH(parse_format("block_fp(8, 8, block_size=[0])"), Contains("0 elements"));
  CHECK_THROWS_WITH(parse_format("block_minifloat(4, 4, 8)"), Contains("do not fit in 4 bits"));
  CHECK_THROWS_WITH(parse_format("block_fp(8, 8, scale_rule=up)"), Contains("scale_rule"));
  CHECK_THROWS_WITH(parse_format("block_fp(8, 8, rounding=stochastic)").torchscript(2),
                    Contains("stochastic"));
}
