// SPDX-License-Identifier: Apache-2.0
// Kernels of profile reference, and the logarithm without a logarithm that they take exponents
// from, against the definitions.
#include "formats/minifloat/reference_kernel.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "formats/element_support.hpp"
#include "formats/minifloat/reference_log2.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

struct Rounded {
  float (*round)(float);
  const RoundedLog2& log2;
};

std::vector<Rounded> all_rounded() {
  return {
      {std::floor, floored_log2()}, {std::ceil, ceiled_log2()}, {std::nearbyint, nearest_log2()}};
}

std::size_t wrong_logarithms(const Rounded& rounded, float first, int count) {
  std::size_t wrong = 0;
  float v = first;
  for (int i = 0; i < count; ++i, v = std::nextafter(v, INFINITY))
    if (v > 0 && v < INFINITY)
      wrong += rounded.log2(v) != static_cast<int>(rounded.round(reference_log2(v)));
  return wrong;
}

float some_below(float v, int count) {
  for (int i = 0; i < count; ++i) v = std::nextafter(v, 0.0F);
  return v;
}

/// As random_minifloat, of profile reference.
MinifloatSpec random_reference_minifloat(Random& random) {
  MinifloatSpec spec = random_minifloat(random, Rounding::nearest_even);
  spec.profile = Profile::reference;
  spec.specials = Specials::none;
  return spec;
}

kernels::ReferenceKernel kernel_of(simd::Isa isa, const MinifloatSpec& spec) {
  const auto& kernels = kernels::reference_kernels(isa);
  return spec.hidden_bit ? kernels.hidden : kernels.no_hidden;
}
kernels::ReferenceKernel kernel_of(simd::Isa isa, const LogSpec&) {
  return kernels::reference_kernels(isa).log;
}
float definition(const MinifloatSpec& spec, float x) {
  return quantize_minifloat_scalar(spec, x, 0);
}
float definition(const LogSpec& spec, float x) { return quantize_log_scalar(spec, x, 0); }

template <class Spec>
void check_all_sets(const Spec& spec, const std::vector<float>& in) {
  std::vector<float> expected;
  for (const float x : in) expected.push_back(definition(spec, x));
  for (const simd::Isa isa : simd::available_isas()) {
    std::vector<float> out(in.size()), same = in;
    kernel_of(isa, spec)(kernels::reference_grid(spec), in.data(), out.data(), in.size());
    kernel_of(isa, spec)(kernels::reference_grid(spec), same.data(), same.data(), same.size());
    if (differences(out, expected) + differences(same, expected) == 0) continue;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!same_value(out[i], expected[i]))
        FAIL(text_of(spec) << " on " << simd::isa_name(isa) << ": " << in[i] << " gives " << out[i]
                           << ", not " << expected[i]);
    CHECK(differences(same, expected) == 0);
  }
}

/// Where elements change: powers of two and their thirds, up to a few steps to both sides, the
/// magnitudes that pass unchanged, and any bits; as many as no set's vectors divide.
std::vector<float> reference_edges(Random& random) {
  std::vector<float> values{0.0F, -0.0F, INFINITY, -INFINITY, NAN, 1e-8F, -1e-8F, 1.1e-8F, 1e-9F};
  for (int i = 0; i < 300; ++i) {
    float v = std::ldexp(random.below(2) == 0 ? 1.0F : 1.5F, between(random, -150, 127));
    v = some_below(v, static_cast<int>(random.below(4)));
    if (random.below(3) == 0) v = std::nextafter(v, INFINITY);
    values.push_back(random.below(2) == 0 ? v : -v);
    values.push_back(std::bit_cast<float>(random.next_u32()));
    values.push_back(static_cast<float>(random.normal()));
  }
  return values;
}

}  // namespace

TEST_CASE("rounded logarithms without a logarithm equal those with one") {
  Random random(81);
  for (const Rounded& rounded : all_rounded()) {
    CHECK(rounded.log2(0.0F) == RoundedLog2::of_zero);
    CHECK(rounded.log2(INFINITY) == RoundedLog2::of_infinity);
    std::size_t wrong = wrong_logarithms(rounded, 0x1p-149F, 5000);
    for (int exponent = -149; exponent <= 127; ++exponent) {
      const float power = std::ldexp(1.0F, exponent);
      wrong += wrong_logarithms(rounded, some_below(power, 100), 200);
      wrong += wrong_logarithms(rounded, some_below(power * 0x1.6a09e6p0F, 100), 200);
    }
    for (int i = 0; i < 100000; ++i)
      wrong += wrong_logarithms(rounded, std::bit_cast<float>(random.next_u32() >> 1), 1);
    CHECK(wrong == 0);
  }
}

TEST_CASE("kernels of profile reference equal the definition") {
  Random random(82);
  for (int trial = 0; trial < 600; ++trial) {
    std::vector<float> in = reference_edges(random);
    in.resize(in.size() - random.below(40));
    check_all_sets(random_reference_minifloat(random), in);
    LogSpec log = random_log(random, Rounding::nearest_even);
    log.profile = Profile::reference;
    check_all_sets(log, in);
  }
  SUCCEED();
}
