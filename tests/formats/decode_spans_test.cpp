// SPDX-License-Identifier: Apache-2.0
// Kernels from codes to values give the rounded products that a Decoding defines.
#include "formats/decode_spans.hpp"

#include <catch2/catch.hpp>
#include <numeric>

#include "base/random.hpp"
#include "formats/block/block_support.hpp"
#include "formats/encoding.hpp"
#include "formats/format_support.hpp"
#include "formats/microscaling/mx.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

std::vector<std::uint32_t> random_codes(Random& random, std::size_t count, int bits) {
  std::vector<std::uint32_t> codes(count);
  for (std::uint32_t& code : codes) code = random.next_u32() >> (32 - bits);
  return codes;
}

std::vector<double> random_floats(Random& random, std::size_t count) {
  std::vector<double> values(count);
  for (double& value : values) value = std::bit_cast<float>(random.next_u32());
  return values;
}

Decoding random_decoding(Random& random, const Tiling& tiling) {
  Decoding decoding{.bits = 1 + below(random, 10), .tiling = tiling};
  decoding.is_signed = below(random, 2) == 0;
  if (below(random, 3) > 0)
    decoding.elements = random_floats(random, std::size_t{1} << decoding.bits);
  constexpr Decoding::Scales scales[] = {Decoding::Scales::none, Decoding::Scales::of_tensor,
                                         Decoding::Scales::of_tiles};
  decoding.scales = scales[below(random, 3)];
  if (decoding.scales == Decoding::Scales::of_tiles) return decoding;
  decoding.shared_bits = 1 + below(random, 9);
  decoding.factors = random_floats(random, std::size_t{1} << decoding.shared_bits);
  decoding.last_dimension = below(random, static_cast<int>(tiling.shape.size()) + 1) - 1;
  return decoding;
}

Encoded random_encoded(Random& random, const Decoding& decoding) {
  const auto elements = static_cast<std::size_t>(numel(decoding.tiling->shape));
  const auto tiles = static_cast<std::size_t>(decoding.tiling->tiles());
  Encoded in{pack_codes(random_codes(random, elements, decoding.bits), decoding.bits), {}, {}};
  if (decoding.shared_bits > 0)
    in.shared = pack_codes(random_codes(random, tiles, decoding.shared_bits), decoding.shared_bits);
  const bool per_tile = decoding.scales == Decoding::Scales::of_tiles;
  const bool any = decoding.scales != Decoding::Scales::none;
  for (const double scale : random_floats(random, per_tile ? tiles : any ? 1 : 0))
    in.scales.push_back(static_cast<float>(scale));
  return in;
}

// Where the shared code of a tile is stored: its coordinates with one of them last.
std::size_t stored_place(const Tiling& tiling, std::size_t tile, int last) {
  const Shape counts = tiling.counts();
  std::size_t place = 0, moved = 0, stride = 1;
  for (std::size_t d = counts.size(), inner = 1; d-- > 0; inner *= counts[d])
    if (static_cast<int>(d) == last) moved = tile / inner % counts[d];
  if (last >= 0) stride = static_cast<std::size_t>(counts[last]);
  for (std::size_t d = counts.size(); d-- > 0; tile /= counts[d]) {
    if (static_cast<int>(d) == last) continue;
    place += tile % counts[d] * stride;
    stride *= counts[d];
  }
  return place + moved;
}

std::vector<float> tile_factors(const Decoding& decoding, const Encoded& in) {
  if (decoding.shared_bits == 0) return in.scales;
  const std::vector<std::uint32_t> shared = in.shared.unpack();
  std::vector<float> factors(shared.size());
  for (std::size_t t = 0; t < factors.size(); ++t) {
    const std::size_t place = stored_place(*decoding.tiling, t, decoding.last_dimension);
    factors[t] = static_cast<float>(decoding.factors[shared[place]]);
    if (decoding.scales == Decoding::Scales::of_tensor) factors[t] *= in.scales[0];
  }
  return factors;
}

double element_of(const Decoding& decoding, std::uint32_t code) {
  if (!decoding.elements.empty()) return decoding.elements[code];
  const bool negative = decoding.is_signed && (code >> (decoding.bits - 1)) != 0;
  return static_cast<double>(code) - (negative ? std::ldexp(1.0, decoding.bits) : 0.0);
}

std::vector<float> definition(const Decoding& decoding, const Encoded& in) {
  const std::vector<std::uint32_t> codes = in.codes.unpack();
  const std::vector<float> factors = tile_factors(decoding, in);
  std::vector<float> out(codes.size());
  for_each_element(*decoding.tiling, [&](std::size_t i, std::size_t tile) {
    out[i] = static_cast<float>(element_of(decoding, codes[i]) * factors[tile]);
  });
  return out;
}

// With elements before and after, which must stay.
void check_decoding(const Decoding& decoding, const Encoded& in) {
  const std::vector<float> expected = definition(decoding, in);
  for (const simd::Isa isa : simd::available_isas()) {
    std::vector<float> out(expected.size() + 2, 77.0F);
    decode_by_factors(decoding, in, std::span(out).subspan(1, expected.size()), isa);
    const std::vector<float> made(out.begin() + 1, out.end() - 1);
    if (differences(made, expected) != 0 || out.front() != 77.0F || out.back() != 77.0F)
      FAIL(simd::isa_name(isa) << ": " << shape_text(decoding.tiling->shape) << " in tiles "
                               << shape_text(decoding.tiling->tile) << ", bits " << decoding.bits);
  }
}

}  // namespace

TEST_CASE("kernels decode tiles of any shape and order") {
  Random random(61);
  for (int trial = 0; trial < 1500; ++trial) {
    const Tiling tiling = random_tiling(random);
    const Decoding decoding = random_decoding(random, tiling);
    check_decoding(decoding, random_encoded(random, decoding));
  }
}

TEST_CASE("kernels decode rows and tiles longer than a piece") {
  Random random(62);
  const std::vector<Tiling> tilings{
      {{3, 5000}, {2, 1}},       {{3, 5000}, {1, 5000}}, {{3, 5003}, {2, 3000}},
      {{2, 9001}, {1, 17}},      {{2, 70000}, {2, 1}},   {{7, 2049}, {3, 4}},
      {{2, 3, 2048}, {1, 2, 1}}, {{12001}, {32}},        {{50, 7, 49}, {1, 3, 1}}};
  for (const Tiling& tiling : tilings)
    for (int trial = 0; trial < 8; ++trial) {
      const Decoding decoding = random_decoding(random, tiling);
      check_decoding(decoding, random_encoded(random, decoding));
    }
}

TEST_CASE("kernels decode past the caches where the output is large") {
  const std::int64_t rows = 129, columns = 65537;  // more than streaming_count
  Decoding decoding{.bits = 4, .tiling = Tiling{{rows, columns}, {32, 1}}, .shared_bits = 4};
  decoding.factors.resize(16);
  std::iota(decoding.factors.begin(), decoding.factors.end(), -3.0);
  Random random(63);
  const Encoded in = random_encoded(random, decoding);
  for (const int elements : {0, 16}) {
    decoding.elements.resize(elements);
    std::iota(decoding.elements.begin(), decoding.elements.end(), -5.0);
    check_decoding(decoding, in);
  }
}

namespace {

MxSpec mx_spec(int width, int exponent_width) {
  MxInt integer;
  integer.width = width;
  if (exponent_width == 0) return integer.spec();
  MxFp minifloat;
  minifloat.exponent_width = exponent_width;
  minifloat.frac_width = width - 1 - exponent_width;
  return minifloat.spec();
}

}  // namespace

TEST_CASE("microscaling codes decode to the values of the definition along every dimension") {
  struct Case {
    std::string text;
    int width, exponent_width;
  };
  Random random(64);
  const Shape shape{9, 35, 22};
  const auto count = static_cast<std::size_t>(numel(shape));
  for (const auto& [text, width, exponent_width] :
       {Case{"mxint8", 8, 0}, Case{"mxint4", 4, 0}, Case{"mxfp8_e4m3", 8, 4},
        Case{"mxfp8_e5m2", 8, 5}, Case{"mxfp6_e3m2", 6, 3}, Case{"mxfp6_e2m3", 6, 2},
        Case{"mxfp4", 4, 2}})
    for (int dimension = 0; dimension < 3; ++dimension) {
      const Tiling tiling = line_tiling(shape, 8, dimension);
      const std::vector<std::uint32_t> codes = random_codes(random, count, width);
      const auto shared = random_codes(random, static_cast<std::size_t>(tiling.tiles()), 8);
      const Format format =
          parse_format(text + "(block_size=8, block_dim=" + std::to_string(dimension) + ")");
      std::vector<float> out(count), expected(count);
      format.decode({pack_codes(codes, width), pack_codes(shared, 8), {}}, out, shape);
      for_each_element(tiling, [&](std::size_t i, std::size_t tile) {
        expected[i] = decode_mx_scalar(mx_spec(width, exponent_width), codes[i],
                                       shared[stored_place(tiling, tile, dimension)]);
      });
      INFO(format.text());
      CHECK(differences(out, expected) == 0);
    }
}

TEST_CASE("scales are stored in the order in which they are read, along every dimension") {
  Random random(65);
  const Shape shape{70, 40, 33};
  std::vector<float> in(static_cast<std::size_t>(numel(shape)));
  for (float& value : in) value = static_cast<float>(std::ldexp(random.normal(), below(random, 9)));
  for (const std::string name : {"mxint8", "mxfp4", "nvfp4"})
    for (int dimension = 0; dimension < 3; ++dimension) {
      const Format format =
          parse_format(name + "(block_size=8, block_dim=" + std::to_string(dimension) + ")");
      std::vector<float> out(in.size());
      format.decode(format.encode(in, shape), out, shape);
      INFO(format.text());
      CHECK(differences(out, quantized(format, in, shape)) == 0);
    }
}
