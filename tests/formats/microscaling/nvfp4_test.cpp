// SPDX-License-Identifier: Apache-2.0
// nvfp4: kernels against the definition, scales of both levels, codes, refusals.
#include "formats/microscaling/nvfp4.hpp"

#include <catch2/catch.hpp>

#include "formats/block/block_engine.hpp"
#include "formats/block/block_support.hpp"
#include "formats/format_support.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

std::vector<float> by_definition(const Nvfp4Spec& spec, const MxBlocks& blocks,
                                 const std::vector<float>& in) {
  const std::vector<TilePeak> peaks = tile_peaks_scalar(blocks.tiling, in);
  float amax = 0;
  for (const TilePeak& peak : peaks) amax = std::max(amax, peak.largest);
  const float t = spec.two_levels ? spec.tensor_scale.value_or(nvfp4_tensor_scale(amax)) : 1.0F;
  const MinifloatSpec element = nvfp4_element(spec.rounding, 0);
  std::vector<float> out(in.size());
  for_each_element(blocks.tiling, [&](std::size_t i, std::size_t tile) {
    const Nvfp4Factors factors = nvfp4_factors(nvfp4_block_scale(peaks[tile].largest, t), t);
    out[i] = peaks[tile].nonfinite
                 ? NAN
                 : nvfp4_element_value(element, in[i], factors.down, i) * factors.up;
  });
  return out;
}

Nvfp4Spec random_nvfp4_spec(Random& random) {
  Nvfp4Spec spec;
  spec.two_levels = below(random, 3) != 0;
  if (spec.two_levels && below(random, 2) == 0)
    spec.tensor_scale = std::ldexp(1.3F, below(random, 230) - 118);
  spec.rounding = static_cast<Rounding>(below(random, 3));
  return spec;
}

}  // namespace

TEST_CASE("nvfp4 kernels equal the definition on blocks of every length, also in place") {
  const auto quantize = [](const Nvfp4Spec& spec, const Tiling& tiling, std::span<const float> in,
                           std::span<float> out,
                           simd::Isa isa) { quantize_nvfp4(spec, MxBlocks{tiling}, in, out, isa); };
  const auto definition = [](const Nvfp4Spec& spec, const Tiling& tiling,
                             const std::vector<float>& in) {
    return by_definition(spec, MxBlocks{tiling}, in);
  };
  check_every_length(Random(72), random_nvfp4_spec, quantize, definition, same_value);
}

TEST_CASE("nvfp4 kernels equal the definition on tiles of any shape") {
  Random random(71);
  std::size_t wrong = 0;
  for (int trial = 0; trial < 800; ++trial) {
    const Nvfp4Spec spec = random_nvfp4_spec(random);
    const bool runs = trial % 2 == 0, nonfinite = below(random, 2) == 0;
    const MxBlocks blocks{runs ? run_tiling(random) : random_tiling(random)};
    const std::vector<float> in = runs ? run_values(random, blocks.tiling, nonfinite)
                                       : random_values(random, blocks.tiling, nonfinite);
    const std::vector<float> expected = by_definition(spec, blocks, in);
    for (const simd::Isa isa : simd::available_isas()) {
      std::vector<float> out(in.size());
      quantize_nvfp4(spec, blocks, in, out, isa);
      wrong += differences(out, expected);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a hand-computed nvfp4 block of one level") {
  // a = 12 / 6 = 2, an e4m3fn value of code 0x40; elements are x / 2: 6, 0.75 (a tie, to even: 1),
  // -2.5 (a tie, to even: -2).
  const Format format = parse_format("nvfp4(tensor_scale=none)");
  const std::vector<float> in{12.0F, 1.5F, -5.0F, 0.0F};
  CHECK(quantized(format, in, {4}) == std::vector<float>{12.0F, 2.0F, -4.0F, 0.0F});
  const Encoded codes = format.encode(in, {4});
  CHECK(codes.shared.unpack() == std::vector<std::uint32_t>{0x40});
  CHECK(codes.codes.unpack() == std::vector<std::uint32_t>{7, 2, 12, 0});
  CHECK(codes.scales.empty());
}

TEST_CASE("a computed nvfp4 tensor scale takes the largest block to the largest scale") {
  const Format format = parse_format("nvfp4");
  const std::vector<float> in{2688.0F, -448.0F, 0.0F};  // t = 1, s = 448
  const Encoded codes = format.encode(in, {3});
  CHECK(codes.scales == std::vector<float>{1.0F});
  CHECK(codes.shared.unpack() == std::vector<std::uint32_t>{0x7e});
  CHECK(quantized(format, in, {3}) == in);
}

TEST_CASE(
    "nvfp4 keeps its invariants: codes decode to values, zeros and tiny tensors are numbers") {
  Random random(72);
  std::size_t wrong = 0;
  for (const char* text :
       {"nvfp4", "nvfp4(tensor_scale=none, block_size=5, block_dim=0)",
        "nvfp4(tensor_scale=0.25, rounding=floor)", "nvfp4(rounding=stochastic, seed=3)"})
    for (int trial = 0; trial < 100; ++trial) {
      const Format format = parse_format(text);
      const Shape shape{1 + below(random, 6), 1 + below(random, 50)};
      const std::vector<float> in = random_values(random, {shape, shape}, below(random, 2) == 0);
      std::vector<float> out(in.size());
      format.decode(format.encode(in, shape), out, shape);
      wrong += differences(out, quantized(format, in, shape));
    }
  CHECK(wrong == 0);
  CHECK(quantized(parse_format("nvfp4"), {0.0F, 0x1p-149F}, {2}) == std::vector<float>{0.0F, 0.0F});
  CHECK(std::isnan(quantized(parse_format("nvfp4"), {1.0F, NAN}, {2})[0]));
}

TEST_CASE("nvfp4 with a given scale changes nothing the second time") {
  Random random(73);
  const Format format = parse_format("nvfp4(tensor_scale=0.001)");
  const Shape shape{64, 16};
  std::vector<float> in(1024);
  for (float& x : in) x = static_cast<float>(random.normal());
  const std::vector<float> once = quantized(format, in, shape);
  // The largest element of a block becomes 6 steps or, rounded down, 4: its scale may then differ.
  std::size_t changed = 0;
  const std::vector<float> twice = quantized(format, once, shape);
  for (std::size_t block = 0; block < 64; ++block) {
    float most = 0, before = 0;
    for (std::size_t i = 0; i < 16; ++i) {
      most = std::max(most, std::abs(once[block * 16 + i]));
      before = std::max(before, std::abs(in[block * 16 + i]));
    }
    if (nvfp4_block_scale(most, 0.001F) != nvfp4_block_scale(before, 0.001F)) continue;
    for (std::size_t i = 0; i < 16; ++i) changed += once[block * 16 + i] != twice[block * 16 + i];
  }
  CHECK(changed == 0);
}

TEST_CASE("tensor_scale is a number, NA or none") {
  for (const char* text : {"nvfp4()", "nvfp4(tensor_scale=none)", "nvfp4(tensor_scale=0.5)"})
    CHECK(parse_format(text).text() == text);
  CHECK(parse_format("nvfp4(tensor_scale=NA)").text() == "nvfp4()");
  CHECK(parse_format("nvfp4").bits_per_element({4, 64}) == 4.5 + 32.0 / 256);
  CHECK(parse_format("nvfp4(tensor_scale=none)").bits_per_element({4, 64}) == 4.5);
  for (const char* text :
       {"nvfp4(tensor_scale=two)", "nvfp4(tensor_scale=0)", "nvfp4(tensor_scale=-1.0)",
        "nvfp4(tensor_scale=nan)", "nvfp4(profile=mase)", "nvfp4(block_size=0)"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_format(text), Error);
  }
}

TEST_CASE("nvfp4 codes need their tensor scale") {
  const Encoded codes = parse_format("nvfp4").encode(std::vector<float>{1.0F}, {1});
  std::vector<float> out(1);
  CHECK_THROWS_WITH(parse_format("nvfp4(tensor_scale=none)").decode(codes, out, {1}),
                    Catch::Contains("one level"));
}
