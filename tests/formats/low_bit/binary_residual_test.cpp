// SPDX-License-Identifier: Apache-2.0
// Residual binary formats: planes of the reference, sums, codes and refusals.
#include "formats/low_bit/binary_residual.hpp"

#include <bit>
#include <catch2/catch.hpp>

#include "base/text.hpp"
#include "formats/golden_case.hpp"
#include "formats/low_bit/residual_kernel.hpp"
#include "formats/scaled_support.hpp"

using namespace mase;
using namespace mase::formats;

TEST_CASE("residual planes reproduce the golden vectors") {
  std::size_t cases = 0;
  for (const GoldenCase& golden : golden_cases()) {
    if (golden.format != "binary_residual") continue;
    ResidualSpec spec{{}, Profile::reference};
    for (const Tree& mean : golden.params.at("means").as_list())
      spec.means.push_back(mean.as_double());
    Values planes(static_cast<std::size_t>(golden.output.size()));
    binary_residual_planes(spec, golden.input.span<float>(), planes);
    const auto expected = golden.output.span<float>();
    CHECK(differences(planes, Values(expected.begin(), expected.end())) == 0);
    ++cases;
  }
  CHECK(cases == 6);
}

TEST_CASE("a residual value is the sum of its planes") {
  // 0.9: +2/3, the rest 0.2333 is +1/3. -0.2: -2/3, then 0.4667 is +1/3. 0 counts as positive.
  const float third = static_cast<float>(1.0 / 3);
  CHECK(quantized("binary_residual(2)", {0.9F, -0.2F, 0.5F, 0}) == Values{1, -third, third, third});
  CHECK(differences(quantized("binary_residual(1)", {NAN, -0.0F, INFINITY, -3}), {NAN, 1, 1, -1}) ==
        0);
  // Reference system: the sign of 0 is 0.
  CHECK(differences(quantized("binary_residual(1, profile=mase)", {0, -0.0F, -2}), {0, 0, -1}) ==
        0);
  CHECK(quantized("binary_residual(2, means=[-0.5, 0.25])", {0.6F, -0.1F}) ==
        Values{0.75F, -0.25F});
}

TEST_CASE("residual codes decode to their values, which are the nearest for halving means") {
  Random random(61);
  for (int levels = 1; levels <= 8; ++levels) {
    const Values in = random_numbers(random, 3000);
    check_round_trip("binary_residual(" + std::to_string(levels) + ")", in, {3000});
    std::string means;
    for (int level = 1; level <= levels; ++level)
      means += (level > 1 ? ", " : "") + double_text(std::ldexp(1.0, -level));
    const std::string halving =
        "binary_residual(" + std::to_string(levels) + ", means=[" + means + "])";
    check_round_trip(halving, in, {3000});
    const Values out = quantized(halving, in);
    // The values are the odd multiples of 2^-levels between -1 and 1.
    const double reach = std::ldexp(1.0, -levels);
    std::size_t far = 0;
    for (std::size_t i = 0; i < in.size(); ++i)
      far += std::fabs(in[i]) < 1 && std::fabs(double{in[i]} - double{out[i]}) > reach;
    CHECK(far == 0);
    CHECK(differences(quantized(halving, out), out) == 0);
  }
}

TEST_CASE("residual kernels equal the definition, for spans of any length and any bits") {
  Random random(62);
  for (int trial = 0; trial < 400; ++trial) {
    ResidualSpec spec{{}, trial % 2 == 0 ? Profile::exact : Profile::reference};
    const std::size_t levels = 1 + random.below(8);
    while (spec.means.size() < levels)
      spec.means.push_back(std::ldexp(random.uniform(), static_cast<int>(random.below(8)) - 4));
    Values in = random_numbers(random, random.below(70)), expected;
    for (float& value : in)
      if (random.below(4) == 0) value = std::bit_cast<float>(random.next_u32());
    // Residuals of sums and means that are 0: a tie between the two signs.
    if (!in.empty()) in.back() = static_cast<float>(spec.means[0]);
    for (const float value : in) expected.push_back(quantize_residual_scalar(spec, value));
    for (const simd::Isa isa : simd::available_isas()) {
      const auto& kernels = kernels::residual_kernels(isa);
      const auto run = spec.profile == Profile::exact ? kernels.exact : kernels.reference;
      Values out(in.size()), same = in;
      run(kernels::residual_means(spec), in.data(), out.data(), in.size());
      run(kernels::residual_means(spec), same.data(), same.data(), same.size());
      INFO(levels << " levels on " << simd::isa_name(isa));
      if (differences(out, expected) + differences(same, expected) != 0)
        CHECK(differences(out, expected) == 0);
    }
  }
  SUCCEED();
}

TEST_CASE("residual encoders equal the definition, for spans of any length and any bits") {
  Random random(63);
  for (int trial = 0; trial < 400; ++trial) {
    ResidualSpec spec{{}, trial % 2 == 0 ? Profile::exact : Profile::reference};
    const std::size_t levels = 1 + random.below(8);
    while (spec.means.size() < levels)
      spec.means.push_back(std::ldexp(random.uniform(), static_cast<int>(random.below(8)) - 4));
    Values in = random_numbers(random, 1 + random.below(70));
    for (float& value : in)
      if (random.below(4) == 0) value = std::bit_cast<float>(random.next_u32());
    in.back() = static_cast<float>(spec.means[0]);  // a rest of 0
    for (const simd::Isa isa : simd::available_isas()) {
      const auto& kernels = kernels::residual_kernels(isa);
      const auto run =
          spec.profile == Profile::exact ? kernels.encode_exact : kernels.encode_reference;
      std::vector<std::uint32_t> codes(in.size() + 1, 999);
      const bool has_nan = run(kernels::residual_means(spec), in.data(), codes.data(), in.size());
      std::size_t wrong = codes.back() != 999, nans = 0;
      for (std::size_t i = 0; i < in.size(); ++i)
        if (std::isnan(in[i]))
          ++nans;
        else
          wrong += codes[i] != residual_code(spec, in[i]);
      INFO(levels << " levels on " << simd::isa_name(isa));
      CHECK(wrong == 0);
      CHECK(has_nan == (nans > 0));
    }
  }
}

TEST_CASE("encoding residual values names the first NaN, wherever it is") {
  for (const std::size_t at : {0, 2047, 2048, 4099}) {
    Values in(5000, 0.5F);
    in[at] = in[4500] = NAN;
    CHECK_THROWS_WITH(parse_format("binary_residual(3)").encode(in, {5000}),
                      Catch::Contains("element " + std::to_string(at) + " is NaN"));
  }
}

TEST_CASE("parameters and damaged tensors of residual formats are refused") {
  CHECK_THROWS_WITH(parse_format("binary_residual(2, means=[0.5])"),
                    Catch::Contains("1 means for 2 levels"));
  CHECK_THROWS_WITH(parse_format("binary_residual(9)"), Catch::Contains("levels"));
  const Format format = parse_format("binary_residual(2)");
  CHECK(format.bits_per_element({3}) == 2.0);
  CHECK(format.range().high == Approx(1.0));
  CHECK_THROWS_WITH(format.encode(Values{NAN}, {1}), Catch::Contains("element 0 is NaN"));
  Values out(2);
  CHECK_THROWS_WITH(format.decode({pack_codes(std::vector<std::uint32_t>{1}, 2), {}, {}}, out, {2}),
                    Catch::Contains("1 codes"));
}
