// SPDX-License-Identifier: Apache-2.0
// Error compensation against hand computation, and gptq on layers with known inputs.
#include <catch2/catch.hpp>

#include "base/random.hpp"
#include "passes/reconstruction/error_compensation.hpp"
#include "passes/reconstruction/layer_rows.hpp"

using namespace mase;
using namespace mase::passes;

namespace {

/// Rows whose products with themselves are those of `count` draws: independent columns mixed, so
/// that neighbours are strongly alike.
std::vector<float> alike_rows(std::int64_t count, std::int64_t columns, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> rows;
  for (std::int64_t row = 0; row < count; ++row) {
    const double common = random.normal();
    for (std::int64_t column = 0; column < columns; ++column)
      rows.push_back(static_cast<float>(common + 0.3 * random.normal()));
  }
  return rows;
}

Array normal(const Shape& shape, std::uint64_t seed) {
  Array array(DType::float32, shape);
  Random random(seed);
  for (float& value : array.mutable_span<float>()) value = static_cast<float>(random.normal());
  return array;
}

std::vector<float> quantized(const formats::Format& format, std::span<const float> values,
                             const Shape& shape) {
  std::vector<float> out(values.size());
  format.quantize(values, out, shape);
  return out;
}

}  // namespace

TEST_CASE("products of inputs are sums over rows") {
  InputProducts products(2);
  products.add(std::vector<float>{1, 2, 3, 4});
  products.add(std::vector<float>{-1, 0.5F});
  CHECK(products.rows() == 3);
  CHECK(products.sums() == std::vector<double>{11, 13.5, 13.5, 20.25});
}

TEST_CASE("the output error is that of the layer's outputs") {
  InputProducts products(2);
  products.add(std::vector<float>{1, 2, 3, 4});
  // Changes (1, -1) and (0, 2): outputs move by -1 and -1, and by 4 and 8.
  const std::vector<float> weight{0, 0, 5, 5}, changed{1, -1, 5, 7};
  CHECK(output_error(weight, changed, std::span(&products, 1)) == Approx(2 + 80));
}

TEST_CASE("the second column makes up for the first") {
  // H = (1, .9; .9, 1) from the rows of its Cholesky factor. Weights (.6, .6) on the integers: the
  // first rounds to 1, which the second makes up for by .9 * .4 = .36 (minimum of the quadratic
  // form for a given first error), so that .24 rounds to 0 and not to 1.
  InputProducts products(2);
  products.add(std::vector<float>{1, 0.9F, 0, std::sqrt(0.19F)});
  const auto format = formats::parse_format("integer(8, 0)");
  const Array weight = Array::from(std::vector<float>{0.6F, 0.6F}, {1, 2});
  // The first column has the same energy as the second; the order of equal ones stays.
  CHECK(compensate(weight, format, std::span(&products, 1), 1e-6) == std::vector<float>{1, 0});
  CHECK(output_error(weight.span<float>(), std::vector<float>{1, 0}, std::span(&products, 1)) ==
        Approx(0.16 + 0.36 - 2 * 0.9 * 0.24).epsilon(1e-4));
}

TEST_CASE("compensation beats rounding to nearest where inputs are alike") {
  for (const char* text :
       {"integer(3, 1)", "integer(4, 2)", "integer_floor(4, 2)",
        "integer(4, 2, granularity=channel, channel_frac_width=[1, 2, 3, 2, 1, 2, 3, 2, 1, 2])"}) {
    INFO(text);
    const formats::Format format = formats::parse_format(text);
    InputProducts products(24);
    products.add(alike_rows(400, 24, 3));
    const Array weight = normal({10, 24}, 4);
    const auto nearest = quantized(format, weight.span<float>(), weight.shape());
    const auto moved = compensate(weight, format, std::span(&products, 1), 0.01);
    CHECK(quantized(format, moved, weight.shape()) == moved);
    CHECK(output_error(weight.span<float>(), moved, std::span(&products, 1)) <
          0.5 * output_error(weight.span<float>(), nearest, std::span(&products, 1)));
  }
}

TEST_CASE("inputs without energy leave their columns to rounding") {
  InputProducts products(3);
  products.add(std::vector<float>{1, 0, 0, 2, 0, 0});
  const Array weight = Array::from(std::vector<float>{0.6F, 0.6F, -0.2F}, {1, 3});
  CHECK(compensate(weight, formats::parse_format("integer(8, 0)"), std::span(&products, 1), 0.01) ==
        std::vector<float>{1, 1, 0});
}

TEST_CASE("groups of a convolution have their own inputs") {
  // Two groups of one channel, kernel 2, stride 1, padding 1 at the front and behind: three
  // outputs.
  LayerGeometry geometry;
  geometry.groups = 2;
  geometry.kernel = {2};
  geometry.stride = {1};
  geometry.dilation = {1};
  geometry.padding = {1};
  geometry.outputs = {3};
  std::vector<std::vector<float>> seen(2);
  show_rows(geometry, Array::from(std::vector<float>{1, 2, 3, 4}, {1, 2, 2}),
            [&](std::int64_t group, std::span<const float> rows) {
              seen[static_cast<std::size_t>(group)].assign(rows.begin(), rows.end());
            });
  CHECK(seen[0] == std::vector<float>{0, 1, 1, 2, 2, 0});
  CHECK(seen[1] == std::vector<float>{0, 3, 3, 4, 4, 0});
}

TEST_CASE("windows of an image run over channels, then rows, then columns of the kernel") {
  LayerGeometry geometry;
  geometry.kernel = {1, 2};
  geometry.stride = {2, 1};
  geometry.dilation = {1, 2};
  geometry.padding = {0, 0};
  geometry.outputs = {1, 1};
  std::vector<float> seen;
  show_rows(
      geometry, Array::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {1, 2, 1, 3}),
      [&](std::int64_t, std::span<const float> rows) { seen.assign(rows.begin(), rows.end()); });
  CHECK(seen == std::vector<float>{1, 3, 4, 6});
}
