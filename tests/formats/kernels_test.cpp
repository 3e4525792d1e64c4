// SPDX-License-Identifier: Apache-2.0
// Every span kernel gives the bits of the scalar definition.
#include <catch2/catch.hpp>
#include <cstring>

#include "base/random.hpp"
#include "formats/fixed/integer_kernel.hpp"
#include "formats/fixed/integer_support.hpp"
#include "formats/format.hpp"
#include "formats/offset_kernel.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

std::vector<float> definition(const IntegerSpec& spec, const std::vector<float>& in) {
  std::vector<float> out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = quantize_integer_scalar(spec, in[i], i);
  return out;
}

// Number of differing bit patterns (also of NaN) of one kernel.
std::size_t kernel_differences(simd::Isa isa, const IntegerSpec& spec, const std::vector<float>& in,
                               const std::vector<float>& expected) {
  std::vector<float> out(in.size());
  kernels::integer_kernel(isa, spec.rounding, spec.profile)(kernels::integer_grid(spec), in.data(),
                                                            out.data(), in.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < in.size(); ++i) count += bits_of(out[i]) != bits_of(expected[i]);
  return count;
}

void check_all_sets(const IntegerSpec& spec, const std::vector<float>& in) {
  const std::vector<float> expected = definition(spec, in);
  for (const simd::Isa isa : simd::available_isas()) {
    const std::size_t wrong = kernel_differences(isa, spec, in, expected);
    if (wrong != 0) {  // an assertion per parameter set would take most of the test's time
      INFO(describe(spec) << " on " << simd::isa_name(isa));
      CHECK(wrong == 0);
    }
  }
}

// Codes and their values by one instruction set.
void check_codes(simd::Isa isa, const IntegerSpec& spec, const std::vector<float>& in) {
  const kernels::IntegerGrid grid = kernels::integer_grid(spec);
  const std::uint32_t mask = 0xffffffffU >> (32 - spec.width);
  std::vector<std::uint32_t> codes(in.size());
  std::vector<float> out(in.size());
  const bool has_nan = kernels::integer_encoder(isa, spec.rounding, spec.profile)(
      grid, in.data(), codes.data(), in.size());
  CHECK(has_nan == std::any_of(in.begin(), in.end(), [](float x) { return std::isnan(x); }));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    codes[i] &= mask;
    wrong += !std::isnan(in[i]) && codes[i] != encode_integer_scalar(spec, in[i], i);
  }
  kernels::integer_decoder(isa)(grid, codes.data(), out.data(), codes.size());
  for (std::size_t i = 0; i < in.size(); ++i)
    wrong += bits_of(out[i]) != bits_of(decode_integer_scalar(spec, codes[i]));
  if (wrong != 0) {
    INFO(describe(spec) << " on " << simd::isa_name(isa));
    CHECK(wrong == 0);
  }
}

float random_bits(Random& random) {
  float value;
  do value = std::bit_cast<float>(random.next_u32());
  while (std::isnan(value) && random.below(16) != 0);
  return value;
}

}  // namespace

TEST_CASE("kernels equal the definition on edge values of every width and frac_width") {
  for (int width = 1; width <= 32; ++width)
    for (int frac_width = -126; frac_width <= 126; ++frac_width)
      for (const bool is_signed : {true, false}) {
        const auto specs = deterministic_specs(width, frac_width, is_signed);
        const std::vector<float> edges = edge_values(specs.front());
        for (const IntegerSpec& spec : specs) check_all_sets(spec, edges);
      }
  SUCCEED();
}

TEST_CASE("kernels equal the definition on random bit patterns") {
  Random random(7);
  std::vector<float> in(4099);
  for (int trial = 0; trial < 300; ++trial) {
    for (float& value : in) value = random_bits(random);
    const int width = 1 + static_cast<int>(random.below(32));
    const int frac_width = static_cast<int>(random.below(253)) - 126;
    for (const IntegerSpec& spec : deterministic_specs(width, frac_width, random.below(2) == 0))
      check_all_sets(spec, in);
  }
  SUCCEED();
}

TEST_CASE("kernels equal the definition on values within the grid's range") {
  Random random(8);
  std::vector<float> in(4099);
  for (int trial = 0; trial < 300; ++trial) {
    const int width = 1 + static_cast<int>(random.below(32));
    const int frac_width = static_cast<int>(random.below(253)) - 126;
    const auto specs = deterministic_specs(width, frac_width, random.below(2) == 0);
    const double reach = 1.2 * specs.front().high() + 1.0;
    for (float& value : in)
      value = static_cast<float>(std::ldexp(random.uniform(-reach, reach), -frac_width));
    for (const IntegerSpec& spec : specs) check_all_sets(spec, in);
  }
  SUCCEED();
}

TEST_CASE("kernels equal the definition on all codes and the ties between them") {
  for (const int width : {1, 2, 3, 4, 8, 12, 16})
    for (const int frac_width : {-126, -3, 0, 4, 16, 126})
      for (const IntegerSpec& spec : deterministic_specs(width, frac_width, true)) {
        std::vector<float> in;
        for (double code = spec.low() - 1; code <= spec.high() + 1; code += 0.25)
          in.push_back(static_cast<float>(std::ldexp(code, -frac_width)));
        check_all_sets(spec, in);
      }
  SUCCEED();
}

TEST_CASE("code kernels equal the definition for every width that has them") {
  Random random(9);
  for (int width = 1; width <= kernels::widest_code_kernel; ++width)
    for (int frac_width = -126; frac_width <= 126; frac_width += 9)
      for (const bool is_signed : {true, false})
        for (const IntegerSpec& spec : deterministic_specs(width, frac_width, is_signed)) {
          std::vector<float> in = edge_values(spec);
          for (int i = 0; i < 37; ++i) in.push_back(random_bits(random));
          for (const simd::Isa isa : simd::available_isas()) {
            check_codes(isa, spec, in);
            check_codes(isa, spec, {0.1F, -INFINITY, 3.0F});
          }
        }
}

TEST_CASE("offset kernels give the numbers of stochastic rounding") {
  std::vector<float> offsets(150);
  for (const std::uint64_t seed : {0ULL, 7ULL, 0x123456789abcdefULL})
    for (const std::uint64_t first : {0ULL, 4ULL, 2048ULL, 0x3fffffff0ULL})  // carries at 2^34
      for (const std::size_t count : {0, 1, 63, 64, 150})
        for (const simd::Isa isa : simd::available_isas()) {
          std::fill(offsets.begin(), offsets.end(), -1.0F);
          kernels::offset_kernel(isa)(seed, first, offsets.data(), count, {});
          std::size_t wrong = 0;
          for (std::size_t i = 0; i < offsets.size(); ++i)
            wrong += offsets[i] != (i < count ? stochastic_offset(seed, first + i) : -1.0);
          CHECK(wrong == 0);
        }
}

TEST_CASE("stochastic kernels equal the definition") {
  Random random(10);
  constexpr std::size_t count = 64;
  for (int trial = 0; trial < 4000; ++trial) {
    const IntegerSpec spec{1 + static_cast<int>(random.below(32)),
                           static_cast<int>(random.below(253)) - 126,
                           random.below(2) == 0,
                           Rounding::stochastic,
                           Profile::exact,
                           random.below(1000)};
    const std::vector<float> edges = edge_values(spec);
    std::vector<float> in(count), offsets(count), out(count);
    for (std::size_t i = 0; i < count; ++i) {
      in[i] = i % 2 == 0 ? random_bits(random) : edges[random.below(edges.size())];
      offsets[i] = static_cast<float>(stochastic_offset(spec.seed, i));
    }
    std::vector<std::uint32_t> codes(count);
    const std::uint32_t mask = 0xffffffffU >> (32 - spec.width);
    for (const simd::Isa isa : simd::available_isas()) {
      const auto& kernel = kernels::stochastic_kernels(isa);
      kernel.quantize(kernels::integer_grid(spec), in.data(), offsets.data(), out.data(), count);
      kernel.encode(kernels::integer_grid(spec), in.data(), offsets.data(), codes.data(), count);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < count; ++i) {
        wrong += !same_value(out[i], quantize_integer_scalar(spec, in[i], i));
        wrong += spec.width <= kernels::widest_code_kernel && !std::isnan(in[i]) &&
                 (codes[i] & mask) != encode_integer_scalar(spec, in[i], i);
      }
      if (wrong != 0) {
        INFO(describe(spec) << " on " << simd::isa_name(isa));
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("stochastic rounding of long tensors counts elements from the first") {
  const IntegerSpec spec{8, 4, true, Rounding::stochastic, Profile::exact, 3};
  std::vector<float> in(5001);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = 0.0013F * static_cast<float>(i) - 3.0F;
  std::vector<float> out = in;
  const Format format = parse_format("integer(8, 4, rounding=stochastic, seed=3)");
  format.quantize(out, out, {5001});
  CHECK(out == definition(spec, in));
  const std::vector<std::uint32_t> codes = format.encode(in, {5001}).codes.unpack();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < in.size(); ++i)
    wrong += codes[i] != encode_integer_scalar(spec, in[i], i);
  CHECK(wrong == 0);
}

TEST_CASE("the first NaN is named, wherever it is") {
  for (const char* text : {"integer(8, 4)", "integer(30, 4)", "integer(8, 4, rounding=stochastic)"})
    for (const std::size_t at : {0, 7, 2047, 2048, 4099}) {
      std::vector<float> in(5000, 1.0F);
      in[at] = in[4500] = NAN;
      CHECK_THROWS_WITH(parse_format(text).encode(in, {5000}),
                        Catch::Contains("element " + std::to_string(at) + " is NaN"));
    }
}

TEST_CASE("kernels treat every length and alignment alike, also in place") {
  const IntegerSpec spec;
  std::vector<float> in(200);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = 0.037F * static_cast<float>(i) - 3.1F;
  const std::vector<float> expected = definition(spec, in);
  for (const simd::Isa isa : simd::available_isas())
    for (std::size_t offset = 0; offset < 17; ++offset)
      for (std::size_t count = 0; count < 70; ++count) {
        std::vector<float> out = in;  // in place; elements around the span must stay
        kernels::integer_kernel(isa, spec.rounding, spec.profile)(
            kernels::integer_grid(spec), out.data() + offset, out.data() + offset, count);
        std::vector<float> wanted = in;
        std::copy_n(expected.begin() + offset, count, wanted.begin() + offset);
        if (out != wanted) FAIL(simd::isa_name(isa) << " offset " << offset << " of " << count);
      }
  SUCCEED();
}

TEST_CASE("kernels equal the definition on outputs large enough for streaming stores") {
  const IntegerSpec spec;
  const std::size_t count = (std::size_t{8} << 20) + 21;
  std::vector<float> in(count + 1), out(count + 2);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 997) * 0.021F - 9.0F;
  std::vector<float> period(in.begin(), in.begin() + 997);
  const std::vector<float> expected = definition(spec, period);
  for (const simd::Isa isa : simd::available_isas()) {
    std::fill(out.begin(), out.end(), 77.0F);
    kernels::integer_kernel(isa, spec.rounding, spec.profile)(kernels::integer_grid(spec),
                                                              in.data(), out.data() + 1, count);
    std::size_t wrong = out.front() != 77.0F || out.back() != 77.0F;
    for (std::size_t i = 0; i < count; ++i) wrong += out[i + 1] != expected[i % 997];
    CHECK(wrong == 0);
  }
}
