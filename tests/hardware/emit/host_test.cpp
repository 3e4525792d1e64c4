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
#include <sstream>
#include <vector>

#include "base/process.hpp"
#include "base/random.hpp"
#include "designs.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/text/axi.hpp"
#include "hardware/integer/block_levels.hpp"
#include "hardware/integer/interpreter.hpp"
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
    "the driver divides inputs by their scale, and multiplies outputs by that of the channel") {
  const double tenth = 0.1F;
  mase_stream stream = stream_of(8, true, 2, 2);
  stream.scales = &tenth;
  stream.scale_count = 1;
  const std::vector<float> values{0.1F, -0.26F, 100, 0.05F};
  std::vector<std::int64_t> codes(4);
  mase_quantize(&stream, values.data(), codes.data());
  CHECK(codes == std::vector<std::int64_t>{1, -3, 127, 0});  // the half goes to the even code
  // Element i of the stream is number order[i] of the tensor, and in channel i mod 2.
  const std::vector<double> scales{0.25, 3};
  const std::vector<std::uint32_t> order{0, 2, 1, 3};
  stream.scales = scales.data();
  stream.scale_count = 2;
  stream.order = order.data();
  std::vector<float> numbers(4);
  mase_dequantize(&stream, codes.data(), numbers.data());
  CHECK(numbers == std::vector<float>{0.25F, -0.75F, 381, 0});
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

namespace {

/// The codes of a row by the header of a design whose only input has a format with blocks, and a
/// program that a C compiler makes of it.
mase::integer::Codes codes_by_c(const mase::integer::Program& program,
                                const std::vector<float>& row) {
  using namespace mase;
  design::Design design = test::one_table();
  design.program = std::make_shared<const integer::Program>(program);
  const integer::StreamValue& value = program.value(0);
  design.streams[0].elements = value.elements();
  design.streams[0].type = value.type;
  design.streams[0].value = 0;
  std::string numbers;
  for (const float number : row) numbers += std::to_string(number) + "F,";
  const test::TemporaryFolder folder;
  emit::Files files = emit::all_files(test::one_table(), {});
  files["host/host.h"] = emit::host_header(design, emit::names_of(design), {}, "0");
  files["host/print.c"] =
      "#include <stdio.h>\n#include \"host.h\"\nint main(void) {\n  const float values[] = {" +
      numbers +
      "};\n  int64_t codes[sizeof values / sizeof *values];\n"
      "  mase_quantize(&mase_inputs[0], values, codes);\n  (void)mase_outputs;\n"
      "  for (size_t i = 0; i < sizeof values / sizeof *values; ++i)\n"
      "    printf(\"%lld\\n\", (long long)codes[i]);\n  return 0;\n}\n";
  emit::write_files(folder.path(), files);
  const ProcessOptions inside{folder.file("host"), 600, {}};
  const auto compiled = run_process({"gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o",
                                     "print", "print.c", "mase_host.c", "-lm"},
                                    inside);
  INFO(compiled.err);
  REQUIRE(compiled.status == 0);
  integer::Codes codes;
  std::istringstream lines(run_process({"./print"}, inside).out);
  for (std::int64_t code = 0; lines >> code;) codes.push_back(code);
  return codes;
}

}  // namespace

TEST_CASE("the driver rounds floats to an input's format with blocks as the format does") {
  using namespace mase;
  Random random(12);
  for (const std::string text :
       {"mxint8(block_size=4, scale_bits=4)",
        "mxfp4(block_size=5, block_dim=1, scale_bits=4, scale_rule=ceil)",
        "block_log(5, 4, block_size=[2, 3])", "nvfp4(tensor_scale=none, block_size=4)",
        "nvfp4(tensor_scale=0.0123, block_size=5, block_dim=1)"}) {
    INFO(text);
    const formats::Format format = formats::parse_format(text);
    const Shape shape{1, 6, 10};
    integer::Program program;
    program.inputs = {0};
    program.input_rounding = {formats::Rounding::nearest_even};
    program.input_levels = {nullptr};
    program.input_blocks = {format};
    program.input_masks = {std::nullopt};
    const auto levels = integer::block_levels_of(format);
    program.values = {{"x", integer::numbers_type(*levels), {6, 10}, {6, 10}, {}}};
    Array batch(DType::float32, shape);
    for (float& number : batch.mutable_span<float>())
      number = static_cast<float>(static_cast<double>(random.below(4001)) - 2000) / 64 /
               static_cast<float>(1 << random.below(10));
    std::vector<float> row;
    for (float& number : batch.mutable_span<float>())
      row.push_back(number = std::stof(std::to_string(number)));  // as it is printed
    row[0] = batch.mutable_span<float>()[0] = 0;
    CHECK(codes_by_c(program, row) == integer::encode_input(program, 0, batch));
  }
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
