// SPDX-License-Identifier: Apache-2.0
// The driver in C, compiled into this test: codes of floats against exact rounding, and the bytes
// of beats.
#include <math.h>  // before the driver, which stands in a namespace
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <catch2/catch.hpp>

#include <cfenv>
#include <cmath>
#include <limits>
#include <vector>

#include "base/process.hpp"
#include "base/random.hpp"
#include "designs.hpp"
#include "hardware/emit/emit.hpp"
#include "support/temporary_folder.hpp"

namespace driver {
#include "../../../hw_templates/host/mase_host.c"
}

using namespace driver;
using mase::Random;

namespace {

mase_stream stream_of(unsigned bits, bool is_signed, std::size_t lanes, std::size_t beats) {
  return {"x",       beats, lanes, bits,   bits, (unsigned)(lanes * bits + 7) / 8,
          is_signed, 0,     0,     nullptr};
}

/// The code by the current rounding mode of long double, which holds the product exactly.
std::int64_t exact_code(const mase_stream& stream, float value) {
  const long double high =
      std::ldexp(1.0L, static_cast<int>(stream.element_bits) - (stream.is_signed ? 1 : 0)) - 1;
  const long double low = stream.is_signed ? -high - 1 : 0;
  const long double scaled = std::ldexp(static_cast<long double>(value), stream.fraction_bits);
  const long double inside = std::fmin(std::fmax(scaled, low), high);
  if (stream.rounding == 2) return static_cast<std::int64_t>(std::round(inside));  // ties away
  std::fesetround(stream.rounding == 1 ? FE_DOWNWARD : FE_TONEAREST);
  const long double code = std::nearbyint(inside);
  std::fesetround(FE_TONEAREST);
  return static_cast<std::int64_t>(code);
}

}  // namespace

TEST_CASE("the driver rounds floats to the codes that the design takes") {
  Random random(5);
  for (const unsigned bits : {1u, 2u, 8u, 16u, 24u, 32u})
    for (const int rounding : {0, 1, 2})
      for (const bool is_signed : {false, true}) {
        mase_stream stream = stream_of(bits, is_signed, 1, 500);
        stream.rounding = rounding;
        stream.fraction_bits = static_cast<int>(random.below(12)) - 3;
        std::vector<float> values;
        for (int i = 0; i < 490; ++i)  // whole codes and halves between them, and beyond the range
          values.push_back(std::ldexp(
              static_cast<float>(static_cast<std::int64_t>(random.below(1u << 12)) - (1 << 11)) / 2,
              static_cast<int>(random.below(bits)) - stream.fraction_bits - 4));
        for (const float v : {0.0f, -0.0f, 1e38f, -1e38f, std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(), 1e-40f, -1e-40f, 0.5f, 1.5f})
          values.push_back(v);
        std::vector<std::int64_t> codes(500);
        mase_quantize(&stream, values.data(), codes.data());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < 500; ++i) wrong += codes[i] != exact_code(stream, values[i]);
        CHECK(wrong == 0);
      }
  const mase_stream stream = stream_of(8, true, 1, 1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::int64_t code = 7;
  mase_quantize(&stream, &nan, &code);
  CHECK(code == 0);
}

TEST_CASE(
    "masks get the least code of an input that has them, and numbers none below their range") {
  mase_stream stream = stream_of(10, true, 1, 6);
  stream.fraction_bits = 4;
  stream.mask_codes = 512 - 128;  // numbers are those of 8 bits
  const std::vector<float> values{-std::numeric_limits<float>::infinity(),
                                  std::numeric_limits<float>::lowest(),
                                  -0x1p100F,
                                  -1e9F,
                                  -8.5F,
                                  1};
  std::vector<std::int64_t> codes(6);
  mase_quantize(&stream, values.data(), codes.data());
  CHECK(codes == std::vector<std::int64_t>{-512, -512, -512, -128, -128, 16});
}

TEST_CASE("the driver rounds floats to the levels of an input in an element format") {
  // -1, 0 and 1 of ternary with a threshold of 0.5, which itself is 0.
  const mase_level levels[] = {{0, 0, -1}, {-0.5F, 0, 0}, {0.5F, 1, 1}};
  mase_stream stream = stream_of(2, true, 1, 8);
  stream.levels = levels;
  stream.level_count = 3;
  const std::vector<float> values{
      -1e38F, -0.50001F, -0.5F, -0.0F, 0.5F, 0.50001F, 7, std::numeric_limits<float>::quiet_NaN()};
  std::vector<std::int64_t> codes(8);
  mase_quantize(&stream, values.data(), codes.data());
  CHECK(codes == std::vector<std::int64_t>{-1, -1, 0, 0, 0, 1, 1, 0});
}

TEST_CASE("the driver gives NaN the code of 0, also where the format rounds 0 to something else") {
  // -0.75, -0.25, 0.25 and 0.75 of binary_residual with means of 0.5 and 0.25; 0 becomes 0.25.
  const mase_level levels[] = {{0, 0, -4}, {-0.5F, 0, -2}, {0, 0, 1}, {0.5F, 0, 3}};
  mase_stream stream = stream_of(3, true, 1, 5);
  stream.levels = levels;
  stream.level_count = 4;
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{std::numeric_limits<float>::quiet_NaN(),
                                  -std::numeric_limits<float>::quiet_NaN(), 0, infinity, -infinity};
  std::vector<std::int64_t> codes(5);
  mase_quantize(&stream, values.data(), codes.data());
  CHECK(codes == std::vector<std::int64_t>{1, 1, 1, 3, -4});
}

TEST_CASE(
    "the driver's bytes hold element after element from the low bits on, in the tensor's order") {
  // Lanes -1, 2, 3 of 20 bits: 60 bits, 0x00003 00002 fffff.
  mase_stream stream = stream_of(20, true, 3, 1);
  const std::vector<std::int64_t> codes = {-1, 2, 3};
  std::vector<std::uint8_t> bytes(mase_frame_bytes(&stream));
  mase_pack(&stream, codes.data(), bytes.data());
  CHECK(bytes == std::vector<std::uint8_t>{0xff, 0xff, 0x2f, 0x00, 0x00, 0x03, 0x00, 0x00});
  // Two beats of two lanes in 16 bits each; the stream goes backwards through the tensor.
  const std::uint32_t order[] = {3, 2, 1, 0};
  stream = {"x", 2, 2, 12, 16, 4, 0, 0, 0, order};
  const std::vector<std::int64_t> tensor = {0x123, 0x456, 0x789, 0xabc};
  bytes.resize(mase_frame_bytes(&stream));
  mase_pack(&stream, tensor.data(), bytes.data());
  CHECK(bytes == std::vector<std::uint8_t>{0xbc, 0x0a, 0x89, 0x07, 0x56, 0x04, 0x23, 0x01});
}

TEST_CASE("the driver and its example are C99 without a warning") {
  const mase::test::TemporaryFolder folder;
  mase::emit::write_files(folder.path(), mase::emit::all_files(mase::test::one_table(), {}));
  const mase::ProcessOptions inside{folder.file("host"), 3600, {}};
  const auto compiled =
      mase::run_process({"gcc", "-std=c99", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-pedantic",
                         "-Werror", "-o", "example", "example.c", "mase_host.c", "-lm"},
                        inside);
  INFO(compiled.err);
  CHECK(compiled.status == 0);
  CHECK(mase::run_process({"./example"}, inside).status == 2);  // its usage
}

TEST_CASE("the driver reads back what it packed, at every width") {
  Random random(6);
  for (unsigned bits = 1; bits <= 62; ++bits)
    for (const bool is_signed : {false, true}) {
      mase_stream stream = stream_of(bits, is_signed, 1 + random.below(4), 1 + random.below(3));
      std::vector<std::int64_t> codes(mase_elements(&stream)), back(codes.size());
      const std::int64_t low = is_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
      for (std::int64_t& code : codes)
        code = low + static_cast<std::int64_t>(random.below(std::uint64_t{1} << bits));
      std::vector<std::uint8_t> bytes(mase_frame_bytes(&stream));
      mase_pack(&stream, codes.data(), bytes.data());
      mase_unpack(&stream, bytes.data(), back.data());
      INFO(bits);
      CHECK(back == codes);
    }
}

TEST_CASE("the driver's floats are codes divided by a power of two") {
  mase_stream stream = stream_of(40, true, 1, 3);
  stream.fraction_bits = 3;
  const std::vector<std::int64_t> codes = {-12, 5,
                                           0x1000001};  // the last is halfway between floats
  std::vector<float> values(3);
  mase_dequantize(&stream, codes.data(), values.data());
  CHECK(values == std::vector<float>{-1.5f, 0.625f, 2097152.0f});
}
