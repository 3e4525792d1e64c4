// SPDX-License-Identifier: Apache-2.0
// The kernels for GPUs, run on this processor from the same text, against golden vectors and
// against the kernels for processors, which other tests compare with the definitions.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/random.hpp"
#include "formats/format_support.hpp"
#include "formats/golden_case.hpp"

namespace mase::formats::kernels {
extern "C" const DeviceKernels* mase_device_kernels();
}

using namespace mase;
using namespace mase::formats;

namespace {

const kernels::DeviceKernels& emulated() { return *kernels::mase_device_kernels(); }

/// What a kernel makes of `count` elements from `first` on, in place.
void run_in_place(const Format& format, std::vector<float>& values, std::size_t first,
                  std::size_t count) {
  float* const at = values.data() + first;
  const char* const error =
      format.device_quantizer(shape_of(count))(emulated(), {at, at, count, 0, nullptr});
  CHECK(error == nullptr);
}

std::vector<float> on_device(const Format& format, const std::vector<float>& in,
                             const Shape& shape) {
  std::vector<float> out(in.size());
  const char* const error =
      format.device_quantizer(shape)(emulated(), {in.data(), out.data(), in.size(), 0, nullptr});
  CHECK(error == nullptr);
  return out;
}

/// Each text with every rounding.
std::vector<std::string> with_roundings(const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts)
    for (const char* rounding : {"nearest_even", "floor", "nearest_away", "stochastic, seed=5"})
      all.push_back(text + ", rounding=" + rounding + ")");
  return all;
}

/// A format for every kernel of the table, and for the borders between kernels.
std::vector<std::string> element_formats() {
  std::vector<std::string> texts =
      with_roundings({"integer(8, 4",
                      "integer(32, -126",
                      "integer(1, 126",
                      "integer(24, 30, is_signed=false",
                      "fixed(16, 8",
                      "minifloat_ieee(8, 4",
                      "minifloat_ieee(16, 8, element=bfloat16",
                      "minifloat_ieee(16, 5, element=float16",
                      "minifloat_ieee(16, 5, inf_nan=ieee, saturate=false",
                      "minifloat_ieee(8, 4, 120",
                      "minifloat_ieee(6, 3, -90",
                      "minifloat_denorm(8, 4",
                      "minifloat_denorm(8, 5, 20",
                      "fp8_e4m3(saturate=true",
                      "fp8_e4m3(saturate=false",
                      "fp8_e5m2(saturate=true",
                      "fp8_e5m2(saturate=false",
                      "fp6_e3m2(saturate=true",
                      "fp6_e2m3(saturate=true",
                      "fp4_e2m1(saturate=true",
                      "log(8",
                      "log(4, 20",
                      "log(5, zero=false"});
  for (const char* text :
       {"integer_floor(8, 4)", "integer_floor(8, 4, profile=reference)",
        "minifloat_ieee(16, 8, 127, inf_nan=ieee, saturate=false, rounding=stochastic)",
        "integer(8, 4, profile=reference)", "binary(bipolar=true)",
        "binary(bipolar=false, scaled=false)", "binary(bipolar=true, profile=reference)",
        "binary(bipolar=true, stochastic=true, seed=3)",
        "binary(bipolar=false, scaled=false, stochastic=true)", "ternary(threshold=0.3)",
        "ternary(mean=1.5)"})
    texts.push_back(text);
  return texts;
}

/// Numbers of all magnitudes around powers of two and their halves, infinities and NaN.
std::vector<float> edges() {
  std::vector<float> values{0.0F, INFINITY, NAN};
  for (int exponent = -149; exponent <= 127; ++exponent)
    for (const double significand : {1.0, 1.25, 1.4142135, 1.5, 1.75, 1.9999999}) {
      const auto value = static_cast<float>(std::ldexp(significand, exponent));
      for (const float other : {value, std::nextafter(value, 0.0F), std::nextafter(value, 1e38F)})
        values.push_back(other);
    }
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  return values;
}

std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = i % 2 == 0
                    ? std::bit_cast<float>(random.next_u32())
                    : static_cast<float>(random.normal() *
                                         std::ldexp(1.0, static_cast<int>(random.below(12))));
  return values;
}

}  // namespace

TEST_CASE("kernels for GPUs reproduce the golden vectors") {
  std::size_t cases = 0;
  for (const GoldenCase& golden : golden_cases()) {
    const auto format = golden_format(golden);
    if (!format || golden.ulp != 0 || golden.input.dtype() != DType::float32 ||
        golden.output.dtype() != DType::float32)
      continue;
    if (!format->device_quantizer(golden.input.shape())) continue;
    INFO(golden.id);
    const auto in = golden.input.span<float>(), expected = golden.output.span<float>();
    const std::vector<float> out = on_device(*format, {in.begin(), in.end()}, golden.input.shape());
    CHECK(differences(out, {expected.begin(), expected.end()}) == 0);
    ++cases;
  }
  CHECK(cases >= 100);
}

TEST_CASE("kernels for GPUs give the bits of those for processors") {
  const std::vector<float> edge = edges(), random = random_values(20000, 11);
  for (const std::string& text : element_formats()) {
    INFO(text);
    const Format format = parse_format(text);
    REQUIRE(format.device_quantizer(shape_of(edge.size())));
    CHECK(differences(on_device(format, edge, shape_of(edge.size())), quantized(format, edge)) ==
          0);
    CHECK(differences(on_device(format, random, shape_of(random.size())),
                      quantized(format, random)) == 0);
    const Format later = format.of_rows(7, static_cast<std::int64_t>(random.size()));
    CHECK(differences(on_device(later, random, shape_of(random.size())),
                      quantized(later, random)) == 0);
  }
}

TEST_CASE("kernels for GPUs treat every length and alignment alike, also in place") {
  const std::vector<float> in = random_values(1000, 12);
  for (const char* text : {"integer(8, 4)", "fp8_e4m3(rounding=stochastic, seed=2)"}) {
    const Format format = parse_format(text);
    for (std::size_t first = 0; first < 6; ++first)
      for (const std::size_t count : {0, 1, 2, 3, 4, 5, 63, 64, 383, 384, 385, 766, 900}) {
        std::vector<float> expected = in, out = in;
        const std::vector<float> part(in.begin() + static_cast<std::ptrdiff_t>(first),
                                      in.begin() + static_cast<std::ptrdiff_t>(first + count));
        std::ranges::copy(quantized(format, part),
                          expected.begin() + static_cast<std::ptrdiff_t>(first));
        run_in_place(format, out, first, count);
        INFO(text << ": " << count << " from " << first);
        CHECK(differences(out, expected) == 0);
      }
  }
}

/// Blocks of every length and kind, in rows of which they do not fill all.
std::vector<std::string> block_formats() {
  return with_roundings({"block_fp(8, 8, block_size=[1, 16]",
                         "block_fp(4, 5, 40, block_size=[1, 5]",
                         "block_fp(32, 8, 200, block_size=[1, 16], scale_rule=rceil",
                         "block_fp(6, 8, -60, block_size=[1, 7]",
                         "block_fp(8, 8, block_size=[1, 64], scale_rule=even",
                         "block_minifloat(8, 4, 8, block_size=[1, 16]",
                         "block_minifloat(6, 3, 8, block_size=[1, 3], scale_rule=rceil",
                         "block_minifloat(8, 4, 4, block_size=[1, 200], scale_rule=ceil",
                         "block_log(8, 8, block_size=[1, 16]",
                         "block_log(4, 5, block_size=[1, 6]",
                         "mxint8(block_size=32",
                         "mxint(6, block_size=4",
                         "mxint(12, block_size=17, scale_rule=ceil",
                         "mxint_hardware(8, 8, [1, 4]",
                         "mxint_hardware(8, 3, [1, 12]",
                         "mxfp8_e4m3(block_size=32",
                         "mxfp8_e5m2(scale_rule=rceil",
                         "mxfp6_e3m2(scale_rule=even",
                         "mxfp6_e2m3(scale_rule=ceil",
                         "mxfp4(block_size=16",
                         "mxfp4(block_size=500"});
}

/// Stretches of four to eight numbers of one magnitude, among them zeros, the smallest and the
/// largest numbers, and some NaN and infinities.
std::vector<float> blocks_of_all_sizes(const Shape& shape) {
  Random random(static_cast<std::uint64_t>(numel(shape)));
  std::vector<float> values;
  while (values.size() < static_cast<std::size_t>(numel(shape))) {
    const auto exponent = static_cast<int>(random.below(290)) - 155;
    const auto special = random.below(40);
    for (std::size_t i = 4 + random.below(5); i > 0; --i)
      values.push_back(special == 0   ? NAN
                       : special == 1 ? INFINITY
                       : special == 2
                           ? -0.0F
                           : static_cast<float>(std::ldexp(random.uniform(-2, 2), exponent)));
  }
  values.resize(static_cast<std::size_t>(numel(shape)));
  return values;
}

TEST_CASE("kernels for GPUs treat blocks as those for processors do") {
  for (const std::string& text : block_formats())
    for (const Shape& shape : {Shape{3, 36}, Shape{10, 132}, Shape{48, 144}}) {
      INFO(text);
      const Format format = parse_format(text);
      REQUIRE(format.device_quantizer(shape));
      const std::vector<float> in = blocks_of_all_sizes(shape);
      CHECK(differences(on_device(format, in, shape), quantized(format, in, shape)) == 0);
    }
}

TEST_CASE("kernels for GPUs treat tiles that begin anywhere alike, also in place") {
  const Shape shape{5, 44};
  const std::vector<float> in = blocks_of_all_sizes({6, 44});
  for (const char* text : {"mxint8(block_size=16)", "mxfp8_e4m3(rounding=stochastic, seed=2)",
                           "block_fp(8, 8, block_size=[1, 6], rounding=stochastic)"})
    for (std::size_t first = 0; first < 5; ++first) {
      const Format format = parse_format(text).of_rows(static_cast<std::int64_t>(first), 5 * 44);
      std::vector<float> out = in, expected = in;
      const std::span<float> part = std::span(expected).subspan(first, 5 * 44);
      format.quantize(part, part, shape);
      float* const at = out.data() + first;
      CHECK(format.device_quantizer(shape)(emulated(), {at, at, 5 * 44, 0, nullptr}) == nullptr);
      INFO(text << " from " << first);
      CHECK(differences(out, expected) == 0);
    }
}

TEST_CASE("formats without a kernel for GPUs say so") {
  for (const char* text :
       {"minifloat_ieee(8, 4, profile=reference)", "log(8, profile=reference)",
        "minifloat_ieee(16, 8, 200)", "log(16, 300)", "ternary", "binary(scaled=true)",
        "scale_integer(8)", "nvfp4", "block_fp(8, 8, block_size=[2, 2], skip_first_dim=false)",
        "mxint8(block_dim=0)", "mxint_hardware(8, 8, [2, 2])", "block_fp(8, 8, profile=reference)",
        "mxint8(block_size=4, profile=reference)"})
    CHECK_FALSE(parse_format(text).device_quantizer({4, 4}));
}
