// SPDX-License-Identifier: Apache-2.0
// Stochastic rounding of every format against what it means: the neighbour above with the
// probability of the distance from the one below, decided by the element's own number.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "formats/format.hpp"
#include "formats/rounding.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

std::vector<float> some_values(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(numel(shape)));
  for (float& value : values)
    value = static_cast<float>(std::clamp(random.normal(), -3.0, 3.0) *
                               std::ldexp(1.0, -static_cast<int>(random.below(6))));
  return values;
}

std::vector<float> by_format(const std::string& text, const std::vector<float>& in,
                             const Shape& shape) {
  std::vector<float> out(in.size());
  parse_format(text).quantize(in, out, shape);
  return out;
}

/// The neighbours by `floor` of x and of -x, and the one that u of element `first` + i chooses, in
/// double. (Powers of two
/// are chosen by their magnitudes.)
std::vector<float> chosen(const std::string& name, const std::string& fields,
                          const std::vector<float>& in, const Shape& shape, std::uint64_t seed,
                          std::uint64_t first = 0) {
  const std::string floor = name + "(" + fields + "rounding=floor)";
  std::vector<float> negated = in;
  for (float& value : negated) value = -value;
  std::vector<float> below = by_format(floor, in, shape);
  const std::vector<float> above = by_format(floor, negated, shape);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double low = below[i], high = -static_cast<double>(above[i]);
    const double u = stochastic_offset(seed, first + i);
    if (low >= high) continue;
    const double part = (in[i] - low) / (high - low);
    const bool mirrored = name.ends_with("log") && in[i] < 0;
    const bool is_high = mirrored ? 1.0 - part + u < 1.0 : part + u >= 1.0;
    if (is_high) below[i] = static_cast<float>(high);
  }
  return below;
}

}  // namespace

TEST_CASE("stochastic rounding chooses among the neighbours by the element's own number") {
  const std::pair<const char*, const char*> formats[] = {
      {"integer", "width=8, frac_width=4, "},
      {"fixed", "width=16, frac_width=12, "},
      {"scale_integer", "width=6, "},
      {"minifloat_ieee", "width=8, exponent_width=4, "},
      {"minifloat_ieee", "element=bfloat16, "},
      {"minifloat_denorm", "width=8, exponent_width=4, "},
      {"fp8_e4m3", ""},
      {"fp8_e5m2", ""},
      {"fp6_e2m3", ""},
      {"fp4_e2m1", ""},
      {"log", "width=8, "},
      {"block_fp", "width=6, "},
      {"block_fp", "width=5, block_size=[3, 5], skip_first_dim=false, "},
      {"block_minifloat", "width=8, exponent_width=4, "},
      {"block_log", "width=8, "},
      {"mxint8", ""},
      {"mxint4", "block_dim=0, "},
      {"mxfp8_e4m3", ""},
      {"mxfp6_e2m3", "block_size=7, "},
      {"mxfp4", "block_dim=0, "},
  };
  for (const auto& [name, fields] : formats)
    for (const Shape& shape : {Shape{1}, Shape{37}, Shape{3, 33}, Shape{70, 70}, Shape{5, 2, 9}}) {
      const std::vector<float> in = some_values(shape, 11 + shape.size());
      const std::string text =
          std::string(name) + "(" + fields + "rounding=stochastic, seed=12345678901)";
      INFO(text << " " << shape_text(shape));
      const std::vector<float> out = by_format(text, in, shape);
      CHECK(out == chosen(name, fields, in, shape, 12345678901));
      const Format format = parse_format(text);
      std::vector<float> decoded(in.size());
      format.decode(format.encode(in, shape), decoded, shape);
      CHECK(decoded == out);
      const std::uint64_t first = (std::uint64_t{1} << 34) - 6;  // not at a whole Philox block
      std::vector<float> part(in.size());
      format.of_rows(static_cast<std::int64_t>(first), numel(shape)).quantize(in, part, shape);
      CHECK(part == chosen(name, fields, in, shape, 12345678901, first));
    }
}

TEST_CASE("stochastic signs are the definition's at every size, scaled or not") {
  for (const char* fields :
       {"", "scaled=true, ", "bipolar=false, ", "bipolar=false, scaled=false, "})
    for (const Shape& shape : {Shape{1}, Shape{37}, Shape{3, 33}, Shape{5, 2, 9}}) {
      std::vector<float> in = some_values(shape, 3);
      in.front() = 0x1p-60F;
      const std::string text = "binary(" + std::string(fields) + "stochastic=true, seed=77)";
      INFO(text << " " << shape_text(shape));
      const std::vector<float> out = by_format(text, in, shape);
      const auto row = in.size() / static_cast<std::size_t>(shape.front());
      const bool bipolar = text.find("bipolar=false") == std::string::npos;
      const bool scaled = text.find("scaled=true") != std::string::npos ||
                          (!bipolar && text.find("scaled=false") == std::string::npos);
      for (std::size_t i = 0; i < in.size(); ++i) {
        // All elements of a vector are one slice.
        const std::size_t first = shape.size() == 1 ? 0 : i / row * row;
        const std::size_t count = shape.size() == 1 ? in.size() : row;
        double sum = 0;
        for (std::size_t k = first; k < first + count; ++k) sum += std::abs(in[k]);
        const auto alpha = scaled ? static_cast<float>(sum / double(count)) : 1.0F;
        const bool is_high = stochastic_offset(77, i) < (double(in[i]) + 1.0) / 2.0;
        REQUIRE(out[i] == (is_high ? alpha : bipolar ? -alpha : 0.0F));
      }
      if (shape.size() < 2) continue;
      // Rows as a tensor of their own, with the numbers that they have in the whole one.
      const Shape rest_shape = [&] {
        Shape rest = shape;
        return --rest.front(), rest;
      }();
      std::vector<float> rest(in.size() - row);
      parse_format(text)
          .of_rows(static_cast<std::int64_t>(row), numel(rest_shape))
          .quantize(std::span(in).subspan(row), rest, rest_shape);
      CHECK(std::ranges::equal(rest, std::span(out).subspan(row)));
    }
}
