// SPDX-License-Identifier: Apache-2.0
// Kernels of binary, ternary and row-scaled formats give the bits of the definitions.
#include <catch2/catch.hpp>

#include "formats/fixed/row_kernel.hpp"
#include "formats/low_bit/binary_scalar.hpp"
#include "formats/low_bit/ternary_scalar.hpp"
#include "formats/low_bit/three_way_kernel.hpp"
#include "formats/scaled_support.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

Values random_patterns(Random& random, std::size_t count) {
  Values values(count);
  for (float& value : values) {
    do value = std::bit_cast<float>(random.next_u32());
    while (std::isnan(value) && random.below(16) != 0);
    if (random.below(4) == 0) value = 0.0F;
  }
  return values;
}

bool has_nan(const Values& values) {
  return std::any_of(values.begin(), values.end(), [](float x) { return std::isnan(x); });
}

// All instruction sets and both ways to store; the elements around the span must stay.
template <class Quantize>
void check_values(const Values& in, const Values& expected, const Quantize& quantize) {
  for (const simd::Isa isa : simd::available_isas())
    for (const bool stream : {false, true}) {
      Values out(in.size() + 2, 77.0F);
      quantize(isa, out.data() + 1, stream);
      std::size_t wrong = out.front() != 77.0F || out.back() != 77.0F;
      for (std::size_t i = 0; i < in.size(); ++i)
        wrong += bits_of(out[i + 1]) != bits_of(expected[i]);
      if (wrong != 0) {
        INFO(simd::isa_name(isa) << (stream ? " streaming" : "") << " of " << in.size());
        CHECK(wrong == 0);
      }
    }
}

void check_three_way(const kernels::ThreeWay& values, const Values& in, const Values& expected,
                     const std::vector<std::uint32_t>& codes) {
  check_values(in, expected, [&](simd::Isa isa, float* out, bool stream) {
    kernels::three_way_kernels(isa).quantize(values, in.data(), out, in.size(), stream);
  });
  for (const simd::Isa isa : simd::available_isas()) {
    std::vector<std::uint32_t> made(in.size());
    CHECK(kernels::three_way_kernels(isa).encode(values, in.data(), made.data(), in.size()) ==
          has_nan(in));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < in.size(); ++i) wrong += !std::isnan(in[i]) && made[i] != codes[i];
    Values decoded(in.size());
    kernels::three_way_kernels(isa).decode(values, codes.data(), decoded.data(), in.size());
    for (std::size_t i = 0; i < in.size(); ++i)
      wrong += !std::isnan(in[i]) && bits_of(decoded[i]) != bits_of(expected[i]);
    if (wrong != 0) CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("binary kernels equal the definition") {
  Random random(71);
  for (std::size_t count = 0; count < 120; ++count)
    for (const bool bipolar : {true, false})
      for (const Profile profile : {Profile::exact, Profile::reference}) {
        const BinarySpec spec{bipolar, false, true, profile, 0};
        const Values in = random_patterns(random, count);
        const auto alpha = static_cast<float>(random.uniform(0, 3));
        Values expected;
        std::vector<std::uint32_t> codes;
        for (const float x : in) {
          expected.push_back(quantize_binary_scalar(spec, x, alpha, 0));
          codes.push_back(binary_code(spec, x, 0) ? 1 : 0);
        }
        check_three_way(binary_three_way(spec, alpha), in, expected, codes);
      }
}

TEST_CASE("ternary kernels equal the definition, which compares doubles") {
  Random random(72);
  for (std::size_t count = 0; count < 120; ++count)
    for (const Profile profile : {Profile::exact, Profile::reference}) {
      const TernarySpec spec{true, std::nullopt, profile};
      Values in = random_patterns(random, count);
      double threshold = std::exp(random.uniform(-90, 80));
      if (!in.empty()) {  // beside a value, and on it
        threshold = std::fabs(in[0]);
        if (random.below(2) == 0) threshold *= 1 + 1e-12;
        if (std::isnan(threshold)) threshold = 0.5;
      }
      const auto alpha = static_cast<float>(random.uniform(0, 3));
      Values expected;
      std::vector<std::uint32_t> codes;
      for (const float x : in) {
        expected.push_back(quantize_ternary_scalar(spec, x, threshold, alpha));
        codes.push_back(static_cast<std::uint32_t>(ternary_code(x, threshold)) & 3U);
      }
      check_three_way(ternary_three_way(spec, threshold, alpha), in, expected, codes);
    }
}

TEST_CASE("sums of magnitudes have the same bits on every instruction set") {
  Random random(73);
  for (std::size_t count = 0; count < 300; ++count) {
    Values in = random_numbers(random, count);
    if (random.below(3) == 0) in = random_patterns(random, count);
    for (const float above : {-1.0F, 0.0F, 0.25F, 1e-40F, INFINITY}) {
      const auto [sum, number] = slow_sum(in, above);
      for (const simd::Isa isa : simd::available_isas()) {
        const MagnitudeSum found =
            kernels::three_way_kernels(isa).sum_magnitudes(in.data(), count, above);
        CHECK(std::bit_cast<std::uint64_t>(found.sum) == std::bit_cast<std::uint64_t>(sum));
        CHECK(found.count == number);
      }
    }
  }
}

TEST_CASE("row kernels equal the definition") {
  Random random(74);
  for (int trial = 0; trial < 700; ++trial) {
    const Rounding roundings[] = {Rounding::nearest_even, Rounding::floor, Rounding::nearest_away};
    const bool is_signed = random.below(2) == 0;
    const ScaleIntegerSpec spec{2 + static_cast<int>(random.below(21)), is_signed,
                                roundings[random.below(3)]};
    Values in = random.below(2) == 0 ? random_patterns(random, random.below(90))
                                     : random_numbers(random, random.below(90));
    const float peak = row_peak(in, Profile::exact);
    const float step = row_scale(spec, peak);
    if (random.below(2) == 0)  // ties
      for (float& x : in)
        x = (static_cast<float>(random.below(std::uint64_t{1} << std::min(spec.width, 20))) +
             0.5F) *
            step;
    const kernels::RowGrid grid{step, static_cast<float>(spec.low()),
                                static_cast<float>(spec.high())};
    Values expected;
    for (const float x : in) expected.push_back(quantize_scale_integer_scalar(spec, x, step, 0));
    check_values(in, expected, [&](simd::Isa isa, float* out, bool stream) {
      kernels::row_kernels(isa)[spec.rounding].quantize(grid, in.data(), out, in.size(), stream);
    });
    for (const simd::Isa isa : simd::available_isas()) {
      const kernels::RowKernels kernel = kernels::row_kernels(isa)[spec.rounding];
      CHECK(bits_of(kernel.peak(in.data(), in.size())) == bits_of(row_peak(in, Profile::exact)));
      std::vector<std::uint32_t> codes(in.size());
      CHECK(kernel.encode(grid, in.data(), codes.data(), in.size()) == has_nan(in));
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < in.size(); ++i)
        wrong += !std::isnan(in[i]) &&
                 static_cast<std::int32_t>(codes[i]) != scale_integer_code(spec, in[i], step, 0);
      if (wrong != 0) CHECK(wrong == 0);
    }
  }
}
