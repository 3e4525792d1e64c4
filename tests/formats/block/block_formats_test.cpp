// SPDX-License-Identifier: Apache-2.0
// block_fp, block_minifloat and block_log: kernels against the definition, codes, bounds, refusals.
// (Their values against the reference system's and a model's: golden_test.cpp.)
#include <catch2/catch.hpp>
#include <cstring>

#include "formats/block/block_fp_elements.hpp"
#include "formats/block/block_log_elements.hpp"
#include "formats/block/block_minifloat_elements.hpp"
#include "formats/block/block_support.hpp"
#include "formats/format_support.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

constexpr Rounding roundings[] = {Rounding::nearest_even, Rounding::floor, Rounding::nearest_away,
                                  Rounding::stochastic};
constexpr ScaleRule rules[] = {ScaleRule::floor, ScaleRule::ceil, ScaleRule::even,
                               ScaleRule::rceil};

BlockFpSpec random_block_fp(Random& random) {
  BlockFpSpec spec;
  spec.width = 2 + below(random, 31);
  spec.exponent_width = 1 + below(random, 8);
  spec.exponent_bias =
      below(random, 2) == 0 ? (1 << (spec.exponent_width - 1)) - 1 : below(random, 1025) - 512;
  spec.scale_rule = rules[below(random, 4)];
  spec.rounding = roundings[below(random, 4)];
  return spec;
}

BlockMinifloatSpec random_block_minifloat(Random& random) {
  BlockMinifloatSpec spec;
  spec.width = 2 + below(random, 15);
  spec.exponent_width = 1 + below(random, std::min(8, spec.width - 1));
  spec.exponent_bias_width = 1 + below(random, 10);
  spec.scale_rule = rules[below(random, 4)];
  spec.rounding = roundings[below(random, 4)];
  return spec;
}

BlockLogSpec random_block_log(Random& random) {
  BlockLogSpec spec;
  spec.width = 2 + below(random, 15);
  spec.exponent_bias_width = 1 + below(random, 10);
  spec.rounding = roundings[below(random, 4)];
  return spec;
}

std::unique_ptr<BlockElements> random_elements(Random& random) {
  const int kind = below(random, 3);
  if (kind == 0) return std::make_unique<BlockFpElements>(random_block_fp(random));
  if (kind == 1) return std::make_unique<BlockMinifloatElements>(random_block_minifloat(random));
  return std::make_unique<BlockLogElements>(random_block_log(random));
}

std::string describe(const BlockElements& elements, const Tiling& tiling) {
  return std::string(elements.name()) + " " + std::to_string(elements.element_bits()) + "/" +
         std::to_string(elements.shared_bits()) + " " + shape_text(tiling.shape) + " in " +
         shape_text(tiling.tile);
}

std::vector<float> definition(const BlockElements& elements, const Tiling& tiling,
                              const std::vector<float>& in) {
  std::vector<float> out(in.size());
  quantize_block_scalar(elements, tiling, in, out);
  return out;
}

void check_kernels(const BlockElements& elements, const Tiling& tiling,
                   const std::vector<float>& in) {
  const std::vector<float> expected = definition(elements, tiling, in);
  for (const simd::Isa isa : simd::available_isas()) {
    const auto kernel = elements.kernel(isa);
    if (!kernel) return;
    std::vector<float> out(in.size());
    quantize_blocks(tiling, in, out, *kernel, isa);
    std::vector<float> same = in;
    quantize_blocks(tiling, same, same, *kernel, isa);
    if (differences(out, expected) + differences(same, expected) == 0) continue;
    INFO(describe(elements, tiling) << " on " << simd::isa_name(isa));
    CHECK(differences(out, expected) == 0);
    CHECK(differences(same, expected) == 0);
  }
}

std::vector<float> without_nan(std::vector<float> values) {
  for (float& value : values)
    if (std::isnan(value)) value = -0.0F;
  return values;
}

}  // namespace

TEST_CASE("block kernels equal the definition for any parameters, tiles and values") {
  Random random(41);
  for (int trial = 0; trial < 1500; ++trial) {
    const auto elements = random_elements(random);
    const Tiling tiling = random_tiling(random);
    check_kernels(*elements, tiling, random_values(random, tiling, trial % 2 == 0));
  }
  SUCCEED();
}

TEST_CASE("block kernels of profile reference equal the definition for any parameters and tiles") {
  Random random(52);
  for (int trial = 0; trial < 2400; ++trial) {
    const auto elements = random_elements(random);
    const Tiling tiling = trial % 3 == 0 ? run_tiling(random) : random_tiling(random);
    const std::vector<float> in = trial % 2 == 0 ? random_values(random, tiling, trial % 4 == 0)
                                                 : run_values(random, tiling, trial % 4 == 1);
    const bool adds_zero = below(random, 2) == 0;
    std::vector<float> expected(in.size());
    quantize_block_reference_scalar(*elements, tiling, adds_zero, in, expected);
    for (const simd::Isa isa : simd::available_isas()) {
      const auto quantize = [&](std::span<const float> from, std::span<float> to) {
        quantize_block_reference(*elements, tiling, adds_zero, from, to, isa);
      };
      if (wrong_outputs(in, expected, quantize, same_value) != 0)
        FAIL(describe(*elements, tiling) << " on " << simd::isa_name(isa));
    }
  }
  SUCCEED();
}

TEST_CASE("block kernels equal the definition on rows of tiles with rare ones among them") {
  Random random(47);
  for (int trial = 0; trial < 800; ++trial) {
    const Tiling tiling = run_tiling(random);
    check_kernels(*random_elements(random), tiling, run_values(random, tiling, trial % 2 == 0));
  }
  SUCCEED();
}

TEST_CASE("block kernels equal the definition on tiles of every length, and write nothing else") {
  Random random(50);
  for (int tile = 1; tile <= most_run_length; ++tile)
    for (int trial = 0; trial < 8; ++trial) {
      const auto elements = random_elements(random);
      const Tiling tiling = length_tiling(random, tile);
      const std::vector<float> in = run_values(random, tiling, trial % 2 == 0);
      const std::vector<float> expected = definition(*elements, tiling, in);
      for (const simd::Isa isa : simd::available_isas()) {
        const auto kernel = elements->kernel(isa);
        if (!kernel) continue;
        const std::size_t streaming_from = trial < 4 ? 0 : in.size() + 1;
        const auto quantize = [&](std::span<const float> from, std::span<float> to) {
          quantize_blocks(tiling, from, to, *kernel, isa, streaming_from);
        };
        if (wrong_outputs(in, expected, quantize, same_value) != 0)
          FAIL(describe(*elements, tiling) << " on " << simd::isa_name(isa));
      }
    }
  SUCCEED();
}

TEST_CASE("tiles are written past the caches to any address, and nothing beside them") {
  Random random(48);
  for (int trial = 0; trial < 400; ++trial) {
    const auto elements = random_elements(random);
    const Tiling tiling = run_tiling(random);
    const std::vector<float> in = run_values(random, tiling, trial % 2 == 0);
    const std::vector<float> expected = definition(*elements, tiling, in);
    const auto offset = static_cast<std::size_t>(1 + below(random, 16));
    for (const simd::Isa isa : simd::available_isas()) {
      const auto kernel = elements->kernel(isa);
      if (!kernel) continue;
      std::vector<float> out(in.size() + offset + 1, 77.0F);
      quantize_blocks(tiling, in, std::span(out).subspan(offset, in.size()), *kernel, isa, 0);
      CHECK((out[offset - 1] == 77.0F && out.back() == 77.0F));
      const std::vector<float> written(out.begin() + static_cast<std::ptrdiff_t>(offset),
                                       out.end() - 1);
      if (differences(written, expected) != 0)
        FAIL(describe(*elements, tiling) << " on " << simd::isa_name(isa));
    }
  }
}

TEST_CASE("block kernels equal the definition on tensors of many strips") {
  Random random(42);
  for (const auto& [shape, tile] : {std::pair<Shape, Shape>{{40001}, {16}},
                                    {{40001}, {9}},
                                    {{30000}, {30000}},
                                    {{40001}, {5001}},
                                    {{300, 301}, {300, 16}},
                                    {{40, 2500}, {7, 1100}},
                                    {{35, 9001}, {16, 1}},
                                    {{9, 8999}, {4, 4}},
                                    {{19, 9000}, {8, 24}},
                                    {{5, 10000}, {2, 5001}},
                                    {{3, 32, 999}, {1, 32, 1}},
                                    {{50000}, {12}},
                                    {{2000, 20}, {1, 16}},
                                    {{7, 5003}, {1, 12}}})
    for (int trial = 0; trial < 4; ++trial) {
      const Tiling tiling{shape, tile};
      check_kernels(*random_elements(random), tiling, random_values(random, tiling, true));
    }
  SUCCEED();
}

TEST_CASE("large block outputs are stored past the caches with the same values") {
  Random random(43);
  const Tiling tiling{{(1 << 23) + 37}, {16}};
  const BlockFpElements elements(BlockFpSpec{});
  std::vector<float> in(static_cast<std::size_t>(tiling.shape[0]));
  for (float& value : in) value = static_cast<float>(random.next_u32()) * 0x1p-31F - 1.0F;
  std::vector<float> expected = in;  // in place, through the caches
  quantize_block(elements, tiling, expected, expected);
  for (const simd::Isa isa : simd::available_isas()) {
    std::vector<float> out(in.size() + 3);
    quantize_blocks(tiling, in, std::span(out).subspan(3), *elements.kernel(isa), isa);
    CHECK(std::memcmp(out.data() + 3, expected.data(), in.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("block codes decode to the quantized values") {
  Random random(44);
  for (int trial = 0; trial < 1500; ++trial) {
    const auto elements = random_elements(random);
    const Tiling tiling = random_tiling(random);
    const std::vector<float> in = without_nan(random_values(random, tiling, trial % 2 == 0));
    const Encoded encoded = encode_block(*elements, tiling, in);
    std::vector<float> decoded(in.size());
    decode_block(*elements, tiling, encoded, decoded);
    INFO(describe(*elements, tiling));
    if (differences(decoded, definition(*elements, tiling, in)) != 0)
      CHECK(differences(decoded, definition(*elements, tiling, in)) == 0);
    if (encoded.codes.bits() != elements->element_bits() ||
        encoded.shared.size() != static_cast<std::size_t>(tiling.tiles()))
      CHECK(false);
  }
  SUCCEED();
}

namespace {

void check_codes(const BlockElements& elements, const Tiling& tiling,
                 const std::vector<float>& in) {
  const std::vector<TilePeak> peaks = tile_peaks_scalar(tiling, in);
  std::vector<std::uint32_t> expected(in.size());
  for_each_element(tiling, [&](std::size_t i, std::size_t tile) {
    const int exponent = elements.exponent(peaks[tile]);
    expected[i] =
        elements.code(elements.quantize(static_cast<double>(in[i]), exponent, i), exponent);
  });
  for (const simd::Isa isa : simd::available_isas()) {
    const auto kernel = elements.code_kernel(isa);
    if (!kernel) continue;
    std::vector<TilePeak> seen;
    const PackedCodes made = encode_blocks(
        tiling, in, *kernel, elements.element_bits(),
        [&](auto found) { seen.insert(seen.end(), found.begin(), found.end()); }, isa);
    if (made.unpack() != expected || seen != peaks)
      FAIL(describe(elements, tiling) << " on " << simd::isa_name(isa));
  }
}

}  // namespace

TEST_CASE("block codes of all instruction sets are those of the definition") {
  Random random(49);
  for (int trial = 0; trial < 8 * most_run_length; ++trial) {
    const auto elements = random_elements(random);
    const Tiling tiling =
        trial % 2 == 0 ? run_tiling(random) : length_tiling(random, 1 + trial / 8);
    check_codes(*elements, tiling, without_nan(run_values(random, tiling, trial % 2 == 0)));
  }
}

TEST_CASE("block codes of tiles of several rows are those of the definition") {
  Random random(50);
  for (int trial = 0; trial < 200; ++trial) {
    const Tiling tiling = random_tiling(random);
    check_codes(*random_elements(random), tiling,
                without_nan(random_values(random, tiling, trial % 2 == 0)));
  }
  // Rows that are cut, tiles longer than a cut, rows of a tile that lie apart.
  const std::vector<Tiling> long_rows{{{5, 20003}, {2, 16}},
                                      {{5, 9001}, {3, 1}},
                                      {{3, 20000}, {2, 20000}},
                                      {{3, 4, 9001}, {2, 3, 7}}};
  for (const Tiling& tiling : long_rows)
    check_codes(*random_elements(random), tiling, without_nan(random_values(random, tiling, true)));
}

TEST_CASE("block values stay when they are quantized again under the same exponent") {
  Random random(45);
  for (int trial = 0; trial < 600; ++trial) {
    const auto elements = random_elements(random);
    const Tiling tiling = random_tiling(random);
    const std::vector<float> in = random_values(random, tiling, false);
    std::size_t wrong = 0;
    const std::vector<TilePeak> peaks = tile_peaks_scalar(tiling, in);
    for_each_element(tiling, [&](std::size_t i, std::size_t tile) {
      const int exponent = elements->exponent(peaks[tile]);
      const double once = elements->quantize(static_cast<double>(in[i]), exponent, i);
      wrong += elements->quantize(once, exponent, i) != once;
    });
    INFO(describe(*elements, tiling));
    if (wrong != 0) CHECK(wrong == 0);
  }
  SUCCEED();
}

TEST_CASE("block_fp errs by half a step, and by a whole one where it saturates") {
  Random random(46);
  for (int trial = 0; trial < 600; ++trial) {
    BlockFpSpec spec = random_block_fp(random);
    spec.exponent_width = 8;
    spec.exponent_bias = 150;  // no exponent is clamped below
    spec.rounding = Rounding::nearest_even;
    const BlockFpElements elements(spec);
    const float p = std::ldexp(1.0F + static_cast<float>(random.next_u32() >> 9) * 0x1p-23F,
                               below(random, 200) - 100);
    const int exponent = elements.exponent({p, false});
    const double step = std::ldexp(1.0, exponent - (spec.width - 1));
    for (int i = 0; i < 20; ++i) {
      const double x = static_cast<double>(p) * (random.uniform() * 2.0 - 1.0);
      const double error = std::abs(elements.quantize(x, exponent, 0) - x);
      const bool saturated = std::abs(x) > elements.largest(exponent);
      if (error > (saturated ? step : step / 2)) CHECK(error <= step / 2);
    }
  }
  SUCCEED();
}

TEST_CASE("stored shared codes are those of the specification") {
  const std::vector<float> in{3.0F, -0.5F, 0.0F, 0.0F};
  const Tiling tiling{{4}, {2}};
  // P = 3 lies in [2, 4): E = 2, code 2 + 127; zeros have code 0.
  CHECK(encode_block(BlockFpElements(BlockFpSpec{}), tiling, in).shared.unpack() ==
        std::vector<std::uint32_t>{129, 0});
  // 3 = 96 / 128 * 4, -0.5 = -16 / 128 * 4.
  CHECK(encode_block(BlockFpElements(BlockFpSpec{}), tiling, in).codes.unpack() ==
        std::vector<std::uint32_t>{96, 0x80 | 16, 0, 0});
  // X = 1; 3 = 2^1 * 1.5 in the top binade of 4 exponent and 3 fraction bits.
  const auto minifloat = encode_block(BlockMinifloatElements(BlockMinifloatSpec{}), tiling, in);
  CHECK(minifloat.shared.unpack() == std::vector<std::uint32_t>{1, 0});
  CHECK(minifloat.codes.unpack() == std::vector<std::uint32_t>{0x7c, 0x80 | (13 << 3), 0, 0});
  // 3 is nearer to 4 in the log domain: X = 2, code 127 for 4 and 124 for 0.5.
  const auto log = encode_block(BlockLogElements(BlockLogSpec{}), tiling, in);
  CHECK(log.shared.unpack() == std::vector<std::uint32_t>{2, 0});
  CHECK(log.codes.unpack() == std::vector<std::uint32_t>{127, 0x80 | 124, 0, 0});
}
