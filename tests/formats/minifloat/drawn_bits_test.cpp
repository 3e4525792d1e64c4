// SPDX-License-Identifier: Apache-2.0
// Stochastic rounding in bit patterns against the definition, for random minifloats whose sums
// float32 does not hold.
#include <catch2/catch.hpp>

#include "formats/element_support.hpp"
#include "formats/minifloat/minifloat_kernel.hpp"
#include "formats/rounding.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

MinifloatSpec bfloat16(bool saturate) {
  MinifloatSpec spec;
  spec.width = 16;
  spec.exponent_width = 8;
  spec.exponent_bias = 127;
  spec.specials = Specials::ieee;
  spec.saturate = saturate;
  spec.rounding = Rounding::stochastic;
  spec.seed = 9;
  return spec;
}

/// Random bits, subnormal numbers, and values around powers and the largest value.
std::vector<float> numbers_for(Random& random, const MinifloatSpec& spec, std::size_t count) {
  std::vector<float> edges{0.0F, -0.0F, INFINITY, -INFINITY, NAN};
  add_around(edges, spec.largest());
  add_around(edges, std::ldexp(1.0, spec.lowest_exponent()));
  add_around(edges, std::ldexp(1.5, spec.lowest_exponent() - spec.fraction_bits()));
  std::vector<float> values(count);
  for (float& value : values) {
    const std::uint32_t bits = random.next_u32();
    value = std::bit_cast<float>(random.below(4) == 0 ? bits & 0x80ffffffU : bits);
    if (random.below(3) == 0) value = edges[random.below(edges.size())];
  }
  return values;
}

void check_kernels(const MinifloatSpec& spec, const std::vector<float>& in) {
  std::vector<float> offsets(in.size()), out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i)
    offsets[i] = static_cast<float>(stochastic_offset(spec.seed, i));
  for (const simd::Isa isa : simd::available_isas()) {
    const auto& kernels = kernels::drawn_minifloat_kernels(isa);
    const bool overflows = !spec.saturate && spec.specials != Specials::none;
    const auto& kernel = overflows ? kernels.in_bits_overflowing : kernels.in_bits;
    kernel.quantize(kernels::minifloat_grid(spec), in.data(), offsets.data(), out.data(),
                    in.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < in.size(); ++i)
      wrong += !same_value(out[i], quantize_minifloat_scalar(spec, in[i], i));
    INFO(text_of(spec) << " on " << simd::isa_name(isa));
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("stochastic rounding in bit patterns equals the definition") {
  Random random(70);
  std::size_t beyond_addition = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    MinifloatSpec spec = random_minifloat(random, Rounding::stochastic);
    if (trial % 4 == 0) spec.exponent_bias = between(random, 112, 127);
    if (trial % 4 == 1) spec = bfloat16(trial % 8 == 1);
    if (!kernels::draws_in_bits(spec)) continue;
    beyond_addition += !kernels::draws_by_addition(spec);
    check_kernels(spec, numbers_for(random, spec, 64));
  }
  CHECK(beyond_addition > 900);  // a quarter is bfloat16
}

TEST_CASE("bfloat16 has kernels of stochastic rounding, for tensors of every size") {
  Random random(71);
  for (const bool saturate : {true, false}) {
    const MinifloatSpec spec = bfloat16(saturate);
    CHECK(kernels::can_draw(spec));
    const Format format = parse_format(text_of(spec));
    for (const std::size_t count : {1, 15, 17, 37, 2049, 4097}) {
      const std::vector<float> in = numbers_for(random, spec, count);
      std::vector<float> expected(count);
      for (std::size_t i = 0; i < count; ++i)
        expected[i] = quantize_minifloat_scalar(spec, in[i], i);
      const std::vector<float> out = quantized(format, in);
      CHECK(differences(out, expected) == 0);
      CHECK(differences(decoded(format, format.encode(in, shape_of(count))), expected) == 0);
    }
  }
}
