// SPDX-License-Identifier: Apache-2.0
// Every kernel of minifloats and logs gives the bits of the definition.
#include <catch2/catch.hpp>

#include "formats/element_support.hpp"
#include "formats/minifloat/log_kernel.hpp"
#include "formats/minifloat/minifloat_kernel.hpp"

using namespace mase;
using namespace mase::formats;
using kernels::MinifloatRange;
using simd::Isa;

namespace {

constexpr Rounding kernel_roundings[] = {Rounding::nearest_even, Rounding::floor,
                                         Rounding::nearest_away};

std::vector<float> quantized(Isa isa, const MinifloatSpec& spec, const std::vector<float>& in) {
  std::vector<float> out(in.size());
  kernels::minifloat_kernels(isa)[spec.rounding][kernels::minifloat_range(spec)].quantize(
      kernels::minifloat_grid(spec), in.data(), out.data(), in.size());
  return out;
}

std::vector<std::uint32_t> encoded(Isa isa, const MinifloatSpec& spec,
                                   const std::vector<float>& in) {
  const auto kernel =
      kernels::minifloat_kernels(isa)[spec.rounding][kernels::minifloat_range(spec)];
  const auto encode = spec.hidden_bit ? kernel.encode_hidden : kernel.encode_no_hidden;
  std::vector<std::uint32_t> out(in.size());
  const bool has_nan = encode(kernels::minifloat_grid(spec), kernels::minifloat_code_grid(spec),
                              in.data(), out.data(), in.size());
  CHECK(has_nan == std::any_of(in.begin(), in.end(), [](float x) { return std::isnan(x); }));
  return out;
}

std::vector<float> quantized(Isa isa, const LogSpec& spec, const std::vector<float>& in) {
  std::vector<float> out(in.size());
  kernels::log_kernels(isa)[spec.rounding].quantize(kernels::log_grid(spec), in.data(), out.data(),
                                                    in.size());
  return out;
}

std::vector<std::uint32_t> encoded(Isa isa, const LogSpec& spec, const std::vector<float>& in) {
  std::vector<std::uint32_t> out(in.size());
  kernels::log_kernels(isa)[spec.rounding].encode(kernels::log_grid(spec), in.data(), out.data(),
                                                  in.size());
  return out;
}

float definition(const MinifloatSpec& spec, float x) {
  return quantize_minifloat_scalar(spec, x, 0);
}
float definition(const LogSpec& spec, float x) { return quantize_log_scalar(spec, x, 0); }

bool has_code(const MinifloatSpec& spec, float value) {
  return kernels::can_encode(spec) && (!std::isnan(value) || spec.specials != Specials::none);
}
bool has_code(const LogSpec&, float value) { return !std::isnan(value); }

std::uint32_t code_of(const MinifloatSpec& spec, float value) {
  return minifloat_code(spec, value);
}
std::uint32_t code_of(const LogSpec& spec, float value) { return log_code(spec, value); }

template <class Spec>
void check_all_sets(const Spec& spec, const std::vector<float>& in) {
  for (const Isa isa : simd::available_isas()) {
    const std::vector<float> values = quantized(isa, spec, in);
    const std::vector<std::uint32_t> codes = encoded(isa, spec, in);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const float expected = definition(spec, in[i]);
      const bool good = same_value(values[i], expected) &&
                        (!has_code(spec, expected) || codes[i] == code_of(spec, expected));
      if (!good)  // an assertion per element would take most of the test's time
        FAIL(text_of(spec) << " on " << simd::isa_name(isa) << ": " << in[i] << " gives "
                           << values[i] << ", code " << codes[i] << ", not " << expected);
    }
  }
}

bool has_kernel(const MinifloatSpec& spec) {
  return kernels::minifloat_range(spec) != MinifloatRange::beyond;
}

}  // namespace

TEST_CASE("minifloat kernels equal the definition on edges of random parameters") {
  Random random(21);
  int narrow = 0, overflowing = 0, wide = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const MinifloatSpec spec = random_minifloat(random, kernel_roundings[trial % 3]);
    if (!has_kernel(spec)) continue;
    check_all_sets(spec, edges_of(spec));
    const MinifloatRange range = kernels::minifloat_range(spec);
    narrow += range == MinifloatRange::narrow;
    overflowing += range == MinifloatRange::overflowing;
    wide += range == MinifloatRange::wide;
  }
  CHECK(narrow > 500);
  CHECK(overflowing > 100);
  CHECK(wide > 10);
}

TEST_CASE("minifloat kernels equal the definition on random bit patterns and magnitudes") {
  Random random(22);
  std::vector<float> in(4099);
  for (int trial = 0; trial < 150; ++trial) {
    const MinifloatSpec spec = random_minifloat(random, kernel_roundings[trial % 3]);
    if (!has_kernel(spec)) continue;
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = i % 2 == 0
                  ? random_pattern(random)
                  : random_magnitude(random, spec.lowest_exponent() - 20, spec.top_exponent() + 3);
    check_all_sets(spec, in);
  }
}

TEST_CASE("kernels of 8 exponent bits equal the definition over all of float32") {
  Random random(23);
  std::vector<float> in(50000);
  for (float& value : in) value = random_pattern(random);
  for (const Rounding rounding : kernel_roundings)
    for (const Specials specials : {Specials::none, Specials::ieee}) {
      MinifloatSpec spec{16, 8, 127, specials};
      spec.rounding = rounding;
      REQUIRE(kernels::minifloat_range(spec) == MinifloatRange::wide);
      check_all_sets(spec, in);
      check_all_sets(spec, edges_of(spec));
    }
}

TEST_CASE("log kernels equal the definition on edges and random bit patterns") {
  Random random(24);
  std::vector<float> in(4099);
  int checked = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const LogSpec spec = random_log(random, kernel_roundings[trial % 3]);
    if (!kernels::fits_float32(spec)) continue;
    check_all_sets(spec, edges_of(spec));
    if (++checked % 8 != 0) continue;
    for (float& value : in) value = random_pattern(random);
    check_all_sets(spec, in);
  }
  CHECK(checked > 200);
}

TEST_CASE("formats named by standards have kernels") {
  for (const MinifloatSpec& spec :
       {MinifloatSpec{8, 4, 7, Specials::fn}, MinifloatSpec{8, 5, 15, Specials::ieee},
        MinifloatSpec{6, 3, 3}, MinifloatSpec{6, 2, 1}, MinifloatSpec{4, 2, 1},
        MinifloatSpec{16, 5, 15, Specials::ieee}})
    CHECK(kernels::minifloat_range(spec) == MinifloatRange::narrow);
  CHECK(kernels::fits_float32({8, 63}));
}
