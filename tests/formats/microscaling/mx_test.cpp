// SPDX-License-Identifier: Apache-2.0
// The microscaling formats: kernels against their definition, codes, blocks, special values,
// refusals.
#include "formats/microscaling/mx.hpp"

#include <catch2/catch.hpp>

#include "formats/block/block_engine.hpp"
#include "formats/block/block_support.hpp"
#include "formats/format_support.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

const std::vector<std::string> mx_roundings{"nearest_even", "floor", "nearest_away"};
const std::vector<std::string> mx_rules{"floor", "ceil", "even", "rceil"};

using Values = std::vector<float>;

std::string pick(Random& random, const std::vector<std::string>& words) {
  return words[static_cast<std::size_t>(below(random, static_cast<int>(words.size())))];
}

/// A range within the exponents that scales of these bits hold.
std::pair<int, int> random_exponents(Random& random, int scale_bits) {
  const int most = (1 << (scale_bits - 1)) - 1, count = 2 * most + 1;
  const int one = below(random, count) - most, other = below(random, count) - most;
  return std::minmax(one, other);
}

/// A bound on exponents, both or none, as fields.
std::string random_range(Random& random, int scale_bits) {
  const auto [least, most] = random_exponents(random, scale_bits);
  const int bounds = below(random, 6);
  return (bounds & 1 ? ", exponent_min=" + std::to_string(least) : "") +
         (bounds & 2 ? ", exponent_max=" + std::to_string(most) : "");
}

/// The parameters of a random format over lines.
std::string random_line_format(Random& random, int rank) {
  const std::string element =
      below(random, 2) == 0
          ? "mxint(" + std::to_string(2 + below(random, 15))
          : "mxfp(" + pick(random, {"4, 3", "5, 2", "3, 2", "2, 3", "2, 1", "1, 2"});
  const int scale_bits = 2 + below(random, 7);
  return element + ", block_size=" + std::to_string(1 + below(random, 40)) +
         ", block_dim=" + std::to_string(below(random, 2 * rank) - rank) +
         ", scale_bits=" + std::to_string(scale_bits) + random_range(random, scale_bits) +
         ", scale_rule=" + pick(random, mx_rules) + ", rounding=" + pick(random, mx_roundings) +
         ")";
}

Shape random_line_shape(Random& random) {
  Shape shape;
  for (int d = 1 + below(random, 4); d > 0; --d)
    shape.push_back(1 + below(random, d == 1 ? 70 : 6));
  return shape;
}

std::vector<float> coded(const Format& format, const std::vector<float>& in, const Shape& shape) {
  std::vector<float> out(in.size());
  format.decode(format.encode(in, shape), out, shape);
  return out;
}

/// quantize_mx by its definition: one element at a time, each finding its block's peak.
std::vector<float> by_definition(const MxSpec& spec, const MxBlocks& blocks,
                                 const std::vector<float>& in) {
  const std::vector<TilePeak> peaks = tile_peaks_scalar(blocks.tiling, in);
  std::vector<float> out(in.size());
  for_each_element(blocks.tiling, [&](std::size_t i, std::size_t tile) {
    const bool bad = peaks[tile].nonfinite && spec.has_nan();
    const auto exponent = mx_block_exponent(spec, bad ? NAN : peaks[tile].largest);
    out[i] = exponent ? quantize_mx_scalar(spec, in[i], *exponent, i) : NAN;
  });
  return out;
}

/// The same of profile reference, where NaN spreads and infinities count.
std::vector<float> by_reference(const MxSpec& spec, const Tiling& tiling,
                                const std::vector<float>& in) {
  const std::vector<float> peaks = tile_magnitudes_scalar(tiling, in);
  std::vector<float> out(in.size());
  for_each_element(tiling, [&](std::size_t i, std::size_t tile) {
    const auto exponent = mx_block_exponent(spec, peaks[tile]);
    out[i] = exponent ? quantize_mx_scalar(spec, in[i], *exponent, i) : NAN;
  });
  return out;
}

MxSpec random_mx_spec(Random& random) {
  MxSpec spec;
  spec.rule = scale_rule_of(pick(random, mx_rules));
  spec.rounding = rounding_of(pick(random, mx_roundings));
  spec.scale_bits = 1 + below(random, 8);
  spec.width = 2 + below(random, 15);
  const int kind = below(random, 8);
  if (kind == 0) {
    spec.scale = MxScale::offset;
  } else {
    spec.scale_bits = std::max(2, spec.scale_bits);
    const std::vector<std::pair<int, int>> widths{{4, 3}, {5, 2}, {3, 2}, {2, 3}, {2, 1}, {1, 2}};
    if (kind < 7)
      set_mx_element(spec, widths[static_cast<std::size_t>(kind - 1)].first,
                     widths[static_cast<std::size_t>(kind - 1)].second);
  }
  return spec;
}

/// A specification whose exponents may be bounded.
MxSpec random_exact_spec(Random& random) {
  MxSpec spec = random_mx_spec(random);
  if (!spec.has_nan()) return spec;
  const auto [least, most] = random_exponents(random, spec.scale_bits);
  const int bounds = below(random, 6);
  if (bounds & 1) spec.exponent_min = least;
  if (bounds & 2) spec.exponent_max = most;
  return spec;
}

std::string problems(const std::string& text) {
  try {
    parse_format(text);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("microscaling kernels equal the definition on tiles of any shape") {
  Random random(61);
  std::size_t wrong = 0;
  for (int trial = 0; trial < 1200; ++trial) {
    const MxSpec spec = random_exact_spec(random);
    const bool runs = trial % 2 == 0, nonfinite = below(random, 2) == 0;
    const MxBlocks blocks{runs ? run_tiling(random) : random_tiling(random)};
    const std::vector<float> in = runs ? run_values(random, blocks.tiling, nonfinite)
                                       : random_values(random, blocks.tiling, nonfinite);
    const std::vector<float> expected = by_definition(spec, blocks, in);
    for (const simd::Isa isa : simd::available_isas()) {
      std::vector<float> out(in.size());
      quantize_mx(spec, blocks, in, out, isa);
      wrong += differences(out, expected);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("microscaling kernels of profile reference equal the definition") {
  Random random(69);
  for (int trial = 0; trial < 2000; ++trial) {
    MxSpec spec = random_mx_spec(random);
    spec.rounding = Rounding::nearest_even;
    spec.profile = Profile::reference;
    if (spec.minifloat) spec.scale_bits = 8;
    const bool runs = trial % 2 == 0, nonfinite = below(random, 2) == 0;
    const MxBlocks blocks{runs ? run_tiling(random) : random_tiling(random)};
    const std::vector<float> in = runs ? run_values(random, blocks.tiling, nonfinite)
                                       : random_values(random, blocks.tiling, nonfinite);
    const std::vector<float> expected = by_reference(spec, blocks.tiling, in);
    for (const simd::Isa isa : simd::available_isas()) {
      const auto quantize = [&](std::span<const float> from, std::span<float> to) {
        quantize_mx(spec, blocks, from, to, isa);
      };
      if (wrong_outputs(in, expected, quantize, same_value) != 0)
        FAIL(spec.width << " bits on " << simd::isa_name(isa));
    }
  }
  SUCCEED();
}

TEST_CASE("runs of profile reference along dimension 0 are those of the transposed matrix") {
  Random random(70);
  for (const std::int64_t rows : {8, 12, 32}) {  // 8 divides two of them
    const std::int64_t columns = 16;
    Values in(static_cast<std::size_t>(rows * columns)), turned(in.size()), back(in.size());
    for (float& value : in) value = static_cast<float>(random.normal());
    const auto turn = [&](const Values& from, Values& to, bool forth) {
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) {
          const auto at = static_cast<std::size_t>(r * columns + c);
          const auto across = static_cast<std::size_t>(c * rows + r);
          to[forth ? across : at] = from[forth ? at : across];
        }
    };
    for (const std::string name : {"mxint8", "mxfp8_e4m3"}) {
      const std::string options = "block_size=8, profile=reference";
      const Format format = parse_format(name + "(block_dim=0, " + options + ")");
      const Format of_rows = parse_format(name + "(" + options + ")");
      turn(in, turned, true);
      turn(quantized(of_rows, turned, {columns, rows}), back, false);
      CHECK(differences(quantized(format, in, {rows, columns}), back) == 0);
      turn(coded(of_rows, turned, {columns, rows}), back, false);
      CHECK(differences(coded(format, in, {rows, columns}), back) == 0);
      CHECK(format.encode(in, {rows, columns}).shared.unpack() ==
            of_rows.encode(turned, {columns, rows}).shared.unpack());
    }
  }
}

TEST_CASE("microscaling kernels equal the definition on blocks of every length, also in place") {
  const auto quantize = [](const MxSpec& spec, const Tiling& tiling, std::span<const float> in,
                           std::span<float> out,
                           simd::Isa isa) { quantize_mx(spec, MxBlocks{tiling}, in, out, isa); };
  const auto definition = [](const MxSpec& spec, const Tiling& tiling,
                             const std::vector<float>& in) {
    return by_definition(spec, MxBlocks{tiling}, in);
  };
  check_every_length(Random(64), random_exact_spec, quantize, definition, same_value);
}

TEST_CASE(
    "microscaling codes decode to the quantized values, and quantizing twice changes nothing") {
  Random random(62);
  std::size_t wrong = 0, changed = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Shape shape = random_line_shape(random);
    const Format format = parse_format(random_line_format(random, static_cast<int>(shape.size())));
    const std::vector<float> in = random_values(random, {shape, shape}, below(random, 2) == 0);
    const std::vector<float> once = quantized(format, in, shape);
    wrong += differences(coded(format, in, shape), once);
    // The scale of the result may differ where P moved to another binade: nearest with floor only.
    const Tree fields = format.fields();
    if (fields.at("scale_rule") == Tree("floor") && fields.at("rounding") == Tree("nearest_even"))
      changed += differences(quantized(format, once, shape), once);
  }
  CHECK(wrong == 0);
  CHECK(changed == 0);
}

TEST_CASE(
    "the error of an element is half a step of its block's scale, or one where it saturates") {
  Random random(63);
  for (int trial = 0; trial < 300; ++trial) {
    const int width = 2 + below(random, 15);
    const Format format = parse_format("mxint(" + std::to_string(width) + ", block_size=16)");
    std::vector<float> in(16);
    const int binade = below(random, 240) - 120;
    for (float& x : in) x = static_cast<float>(std::ldexp(random.normal(), binade));
    float p = 0;
    for (const float x : in) p = std::max(p, std::abs(x));
    const double step = std::ldexp(1.0, std::max(-127, std::ilogb(p)) - width + 2);
    const std::vector<float> out = quantized(format, in, {16});
    for (std::size_t i = 0; i < 16; ++i) {
      const double error = std::abs(static_cast<double>(in[i]) - static_cast<double>(out[i]));
      const double largest = step * (std::ldexp(1.0, width - 1) - 1.0);
      REQUIRE(error <= (std::abs(in[i]) > largest ? step : step / 2));
    }
  }
}

TEST_CASE("hand-computed blocks of integers") {
  // P = 1.75: X = 0, step 2^-6; 1.75 = 112 steps, 0.3 = 19.2, -0.0234375 = -1.5.
  const std::vector<float> in{1.75F, 0.3F, -0.0234375F, -0.0F};
  const Encoded codes = parse_format("mxint8").encode(in, {4});
  CHECK(codes.codes.unpack() == std::vector<std::uint32_t>{112, 19, 254, 0});
  CHECK(codes.shared.unpack() == std::vector<std::uint32_t>{127});
  CHECK(quantized(parse_format("mxint8"), in, {4}) ==
        std::vector<float>{1.75F, 0.296875F, -0.03125F, 0.0F});
  CHECK_FALSE(std::signbit(quantized(parse_format("mxint8"), in, {4})[3]));
  // -2 + 2^-6 is below the smallest code, -127 steps.
  CHECK(quantized(parse_format("mxint8"), {-0x1.ffp0F}, {1}) == std::vector<float>{-0x1.fcp0F});
}

TEST_CASE("hand-computed blocks of floats") {
  // P = 7: X = 2 - 2 = 0; 7 saturates to 6, 2.5 is a tie between 2 and 3, 0.25 one between 0 and
  // 1/2.
  const std::vector<float> in{7.0F, 2.5F, -0.25F, 5.0F};
  CHECK(quantized(parse_format("mxfp4"), in, {4}) == std::vector<float>{6.0F, 2.0F, -0.0F, 4.0F});
  CHECK(std::signbit(quantized(parse_format("mxfp4"), in, {4})[2]));
  CHECK(parse_format("mxfp4").encode(in, {4}).codes.bytes() == std::string("\x47\x68"));
  // 480 is NaN in e4m3fn: both of these become 448.
  CHECK(quantized(parse_format("mxfp8_e4m3"), {480.0F, 500.0F}, {2}) ==
        std::vector<float>{448.0F, 448.0F});
  // Under `ceil` X = 8 - 8 + 1, and 500 / 2 = 15.6 steps of 16.
  CHECK(quantized(parse_format("mxfp8_e4m3(scale_rule=ceil)"), {500.0F}, {1}) ==
        std::vector<float>{512.0F});
}

TEST_CASE("blocks above the range of exponents saturate, and those below it round at its lowest") {
  const Format integers = parse_format("mxint8(block_size=2, exponent_min=-3, exponent_max=1)");
  // X = 1 has steps of 2^-5: 127 of them are 3.96875. X = -3 has steps of 2^-9.
  const std::vector<float> in{5.0F, 0.3F, -100.0F, 3.0F, 0x1p-8F, 0x1.8p-10F, 0.0F, 0.0F};
  CHECK(quantized(integers, in, {8}) ==
        std::vector<float>{3.96875F, 0.3125F, -3.96875F, 3.0F, 0x1p-8F, 0x1p-9F, 0.0F, 0.0F});
  const Encoded codes = integers.encode(in, {8});
  CHECK(codes.shared.bits() == 8);
  CHECK(codes.shared.unpack() == std::vector<std::uint32_t>{128, 128, 124, 124});
  std::vector<std::uint8_t> mask(8);
  integers.saturates(in, mask, {8});
  CHECK(mask == std::vector<std::uint8_t>{1, 0, 1, 0, 0, 0, 0, 0});
  CHECK(integers.range().high == 3.96875);
  // e2m1 reaches 6 and has steps of 1/2 below 1; X is the exponent of P less 2, and
  // 7 beside 100 is a tie between 3 and 4 times 2.
  const Format floats = parse_format("mxfp4(block_size=2, exponent_min=0, exponent_max=1)");
  CHECK(quantized(floats, {100.0F, 7.0F, 0.3F, 0.2F}, {4}) ==
        std::vector<float>{12.0F, 8.0F, 0.5F, 0.0F});
}

TEST_CASE("a block with NaN or infinity is NaN, and only that one") {
  for (const char* text : {"mxint8(block_size=2)", "mxfp4(block_size=2)"}) {
    const Format format = parse_format(text);
    const std::vector<float> in{1.0F, NAN, 1.0F, 1.0F, INFINITY, 1.0F};
    const std::vector<float> out = coded(format, in, {6});
    CHECK(differences(out, {NAN, NAN, 1.0F, 1.0F, NAN, NAN}) == 0);
    CHECK(format.encode(in, {6}).shared.unpack()[0] == 255);
    std::vector<std::uint8_t> mask(6);
    format.saturates(in, mask, {6});
    CHECK(mask == std::vector<std::uint8_t>{0, 0, 0, 0, 1, 0});
  }
}

TEST_CASE("a block of zeros has scale code 0") {
  const std::vector<float> in{0.0F, -0.0F};
  CHECK(parse_format("mxfp4").encode(in, {2}).shared.unpack() == std::vector<std::uint32_t>{0});
  CHECK(differences(quantized(parse_format("mxfp4"), in, {2}), in) == 0);
  CHECK(differences(quantized(parse_format("mxint8"), in, {2}), {0.0F, 0.0F}) == 0);
}

TEST_CASE("scales are stored with the block axis last") {
  // Columns of a [4, 2] matrix in blocks of 2: (1, 2 | 4, 8) and (16, 32 | 64, 128).
  const std::vector<float> in{1, 16, 2, 32, 4, 64, 8, 128};
  const Encoded codes = parse_format("mxint8(block_size=2, block_dim=0)").encode(in, {4, 2});
  CHECK(codes.shared.unpack() == std::vector<std::uint32_t>{128, 130, 132, 134});
}

TEST_CASE("scales of many lines are stored with the block axis last") {
  // The scale of line l and block b is 2^((l + 3 b) mod 50): code 127 more.
  constexpr std::size_t outer = 3, blocks = 2, inner = 5003;
  std::vector<float> in(outer * blocks * 32 * inner);
  std::vector<std::uint32_t> expected;
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i)
      for (std::size_t b = 0; b < blocks; ++b) {
        const auto exponent = static_cast<std::uint32_t>((o * inner + i + 3 * b) % 50);
        expected.push_back(127 + exponent);
        in[((o * blocks + b) * 32 + (i + o) % 32) * inner + i] =
            std::ldexp(1.0F, static_cast<int>(exponent));
      }
  const Encoded encoded =
      parse_format("mxint8(block_dim=1)").encode(in, {outer, blocks * 32, inner});
  CHECK(encoded.shared.unpack() == expected);
}

TEST_CASE("block_fp with an exponent of 8 bits has the values of mxint") {
  Random random(64);
  std::size_t wrong = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const std::string width = std::to_string(2 + below(random, 15));
    const Shape shape{1 + below(random, 5), 1 + below(random, 60)};
    std::vector<float> in = random_values(random, {shape, shape}, false);
    for (float& x : in)
      if (std::abs(x) < 0x1p-100F) x = 0.0F;  // below P = 2^-127 block_fp reaches further
    const std::string block = std::to_string(1 + below(random, 20));
    const std::vector<float> a = quantized(
        parse_format("block_fp(" + width + ", 8, block_size=[" + block + "], skip_first_dim=true)"),
        in, shape);
    const std::vector<float> b =
        quantized(parse_format("mxint(" + width + ", block_size=" + block + ")"), in, shape);
    for (std::size_t i = 0; i < in.size(); ++i) wrong += a[i] != b[i];
  }
  CHECK(wrong == 0);
}

TEST_CASE("names are formats with fixed elements") {
  Random random(65);
  const std::vector<std::pair<std::string, std::string>> names{
      {"mxint8", "mxint(8)"},       {"mxint4", "mxint(4)"},
      {"mxint2", "mxint(2)"},       {"mxfp8_e4m3", "mxfp(element=e4m3fn)"},
      {"mxfp8_e5m2", "mxfp(5, 2)"}, {"mxfp6_e3m2", "mxfp(element=e3m2)"},
      {"mxfp6_e2m3", "mxfp(2, 3)"}, {"mxfp4", "mxfp(element=e2m1)"}};
  const Shape shape{3, 50};
  const std::vector<float> in = random_values(random, {shape, shape}, false);
  for (const auto& [name, text] : names) {
    INFO(name);
    CHECK(differences(quantized(parse_format(name), in, shape),
                      quantized(parse_format(text), in, shape)) == 0);
    CHECK(parse_format(name).bits_per_element({4, 64}) ==
          parse_format(text).bits_per_element({4, 64}));
  }
}

TEST_CASE("bits count the scales of short blocks too") {
  CHECK(parse_format("mxfp8_e4m3").bits_per_element({2, 64}) == 8.25);
  CHECK(parse_format("mxfp6_e2m3").bits_per_element({2, 64}) == 6.25);
  CHECK(parse_format("mxfp4").bits_per_element({2, 64}) == 4.25);
  CHECK(parse_format("mxint8").bits_per_element({2, 40}) == 8.4);
  CHECK(parse_format("mxint_hardware(8, 4, [2, 4])").bits_per_element({4, 8}) == 8.5);
}

TEST_CASE("texts of microscaling formats are canonical") {
  for (const char* text : {"mxint(8)", "mxfp(4, 3)", "mxfp4()", "mxint_hardware(8, 4, [2, 4])",
                           "mxfp(2, 1, block_size=16, scale_rule=rceil)"})
    CHECK(parse_format(text).text() == text);
  CHECK(parse_format("mxfp(element=e5m2)").text() == "mxfp(5, 2)");
  CHECK(parse_format("mxfp").text() == "mxfp(4, 3)");
}

TEST_CASE("parameters that do not exist are refused") {
  const auto refuses = [](const char* text, const char* message) {
    INFO(text);
    CHECK_THAT(problems(text), Catch::Contains(message));
  };
  refuses("mxint(1)", "width");
  refuses("mxint(17)", "width");
  refuses("mxint(8, block_size=0)", "block_size");
  refuses("mxint(8, scale_bits=9)", "scale_bits");
  refuses("mxfp(4, 2)", "no element of exponent_width 4 and frac_width 2");
  refuses("mxfp(5, 2, element=e4m3fn)", "give one or the other");
  refuses("mxfp(element=e4m4)", "element");
  refuses("mxfp4(profile=mase, scale_bits=4)", "scales of 8 bits");
  refuses("mxint8(profile=mase, scale_rule=ceil)", "its own rule for scales");
  refuses("mxint8(profile=mase, rounding=floor)", "has no rounding");
  refuses("mxint8(exponent_min=-128)", "exponent_min");
  refuses("mxfp4(scale_bits=4, exponent_min=-8)", "'exponent_min' must be between -7 and 7");
  refuses("mxint(8, scale_bits=4, exponent_max=8)", "'exponent_max' must be between -7 and 7");
  refuses("mxint8(exponent_min=2, exponent_max=1)", "must be at most 'exponent_max', 1, not 2");
  refuses("mxfp4(profile=mase, exponent_max=1)", "does not bound exponents");
  refuses("mxint_hardware(8, 4, exponent_max=1)", "exponent_max");
  refuses("mxint_hardware(8, 4, [1, 2, 3])", "one or two numbers");
  refuses("mxint_hardware(8, 4, [0, 2])", "parallelism");
}

TEST_CASE("shapes that have no such blocks are refused") {
  CHECK_THROWS_WITH(parse_format("mxint8(block_dim=2)").check({3, 4}),
                    Catch::Contains("block_dim 2 does not exist in a tensor"));
  CHECK_THROWS_WITH(parse_format("mxint_hardware(8, 4, [2, 4])").check({3, 4}),
                    Catch::Contains("does not divide dimension 0"));
  CHECK_THROWS_WITH(parse_format("mxint8(profile=mase)").check({5, 10}),
                    Catch::Contains("do not divide its 50"));
  CHECK_NOTHROW(parse_format("mxint8(profile=mase)").check({4, 24}));  // runs cross lines
}

TEST_CASE("codes that do not fit the tensor are refused") {
  const Format format = parse_format("mxint8");
  std::vector<float> out(64);
  const Encoded good = format.encode(std::vector<float>(64, 1.0F), {2, 32});
  CHECK_NOTHROW(format.decode(good, out, {2, 32}));
  CHECK_THROWS_AS(format.decode(good, out, {1, 64, 1}), Error);  // another number of blocks
  CHECK_THROWS_AS(parse_format("mxint4").decode(good, out, {2, 32}), Error);
  CHECK_THROWS_AS(
      parse_format("mxint_hardware(8, 4, [1, 2])").encode(std::vector<float>{1.0F, NAN}, {2}),
      Error);
}

TEST_CASE("stochastic rounding of blocks is repeatable and hits both neighbours") {
  const Format format = parse_format("mxint8(rounding=stochastic, seed=5)");
  std::vector<float> in(32, 1.0F + 0x1p-8F);  // a quarter of a step above 1
  const std::vector<float> out = quantized(format, in, {32});
  CHECK(out == quantized(format, in, {32}));
  const auto up = std::count(out.begin(), out.end(), 1.0F + 0x1p-6F);
  CHECK(up > 0);
  CHECK(up + std::count(out.begin(), out.end(), 1.0F) == 32);
  CHECK(differences(coded(format, in, {32}), out) == 0);
}
