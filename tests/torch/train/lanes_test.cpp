// SPDX-License-Identifier: Apache-2.0
// Convolutions, pooling and batch norm over lanes against their definitions, on every instruction
// set of this machine.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "torch/train/lanes/convolution.hpp"
#include "torch/train/lanes/packing.hpp"

using namespace mase;
using namespace mase::train;

namespace {

std::vector<float> normal(std::size_t count, Random& random) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

/// As a tensor in lanes; what lies between the planes is NaN, which nobody may read.
std::vector<float> in_lanes(const std::vector<float>& rows, const BatchSizes& sizes,
                            const LaneKernels& kernels) {
  std::vector<float> lanes(sizes.planes() * plane_stride(sizes.positions),
                           std::numeric_limits<float>::quiet_NaN());
  rows_to_lanes(rows.data(), sizes, lanes.data(), kernels);
  return lanes;
}

std::vector<float> in_rows(const std::vector<float>& lanes, const BatchSizes& sizes,
                           const LaneKernels& kernels) {
  std::vector<float> rows(sizes.images * sizes.channels * sizes.positions);
  lanes_to_rows(lanes.data(), sizes, rows.data(), kernels);
  return rows;
}

/// Calls visit(image, out channel, in channel, output, weight, input) with the indices of all
/// products of a convolution.
template <class Visit>
void for_each_product(const ConvolutionShape& s, std::size_t images, Visit&& visit) {
  const std::size_t ins = s.in_channels / s.groups, outs = s.out_channels / s.groups;
  const auto at = [](const ConvolutionAxis& axis, std::size_t o, std::size_t k) {
    return static_cast<long>(o * axis.stride + k * axis.dilation) - static_cast<long>(axis.padding);
  };
  for (std::size_t n = 0; n < images; ++n)
    for (std::size_t o = 0; o < s.out_channels; ++o)
      for (std::size_t y = 0; y < s.rows.out; ++y)
        for (std::size_t x = 0; x < s.columns.out; ++x)
          for (std::size_t i = 0; i < ins; ++i)
            for (std::size_t ky = 0; ky < s.rows.kernel; ++ky)
              for (std::size_t kx = 0; kx < s.columns.kernel; ++kx) {
                const long iy = at(s.rows, y, ky), ix = at(s.columns, x, kx);
                if (iy < 0 || iy >= static_cast<long>(s.rows.in)) continue;
                if (ix < 0 || ix >= static_cast<long>(s.columns.in)) continue;
                const std::size_t channel = o / outs * ins + i;
                visit(((n * s.out_channels + o) * s.rows.out + y) * s.columns.out + x,
                      ((o * ins + i) * s.rows.kernel + ky) * s.columns.kernel + kx,
                      ((n * s.in_channels + channel) * s.rows.in + static_cast<std::size_t>(iy)) *
                              s.columns.in +
                          static_cast<std::size_t>(ix));
              }
}

void check_close(const std::vector<float>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  double largest = 1;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!(std::abs(static_cast<double>(found[i]) - expected[i]) <= 2e-6 * largest))
      FAIL("element " << i << ": " << found[i] << " instead of " << expected[i]);
}

void check_convolution(const ConvolutionShape& s, std::size_t images, const LaneKernels& kernels) {
  Random random(s.out_channels * 100 + images);
  const BatchSizes in_sizes{images, s.in_channels, s.rows.in * s.columns.in};
  const BatchSizes out_sizes{images, s.out_channels, s.rows.out * s.columns.out};
  const std::size_t inputs = images * in_sizes.channels * in_sizes.positions;
  const std::size_t outputs = images * out_sizes.channels * out_sizes.positions;
  const auto in = normal(inputs, random), gradient = normal(outputs, random);
  const auto bias = normal(s.out_channels, random);
  const auto weight = normal(s.out_channels * s.in_channels / s.groups * s.taps(), random);

  std::vector<double> out(outputs), dx(inputs), dw(weight.size()), db(bias.size());
  for (std::size_t o = 0; o < outputs; ++o) {
    const std::size_t channel = o / out_sizes.positions % s.out_channels;
    out[o] = static_cast<double>(bias[channel]);
    db[channel] += static_cast<double>(gradient[o]);
  }
  for_each_product(s, images, [&](std::size_t o, std::size_t w, std::size_t i) {
    out[o] += static_cast<double>(weight[w]) * static_cast<double>(in[i]);
    dx[i] += static_cast<double>(weight[w]) * static_cast<double>(gradient[o]);
    dw[w] += static_cast<double>(in[i]) * static_cast<double>(gradient[o]);
  });

  Convolution convolution(s, kernels);
  convolution.set_weight(weight.data());
  const auto lanes = in_lanes(in, in_sizes, kernels);
  std::vector<float> result(out_sizes.planes() * plane_stride(out_sizes.positions));
  convolution.forward(lanes.data(), bias.data(), in_sizes.bundles(), result.data());
  check_close(in_rows(result, out_sizes, kernels), out);

  std::vector<float> to_in(lanes.size()), to_weight(weight.size()), to_bias(bias.size());
  const auto from = in_lanes(gradient, out_sizes, kernels);
  for (int twice = 0; twice < 2; ++twice)
    convolution.backward(
        [&](std::size_t first, std::size_t) {
          return from.data() + first * convolution.out_bundle();
        },
        lanes.data(), in_sizes.bundles(), {to_in.data(), to_weight.data(), to_bias.data()});
  check_close(in_rows(to_in, in_sizes, kernels), dx);
  check_close(to_weight, dw);
  check_close(to_bias, db);
}

ConvolutionAxis axis(std::size_t in, std::size_t kernel, std::size_t stride, std::size_t padding,
                     std::size_t dilation) {
  const std::size_t reach = dilation * (kernel - 1) + 1;
  return {in, (in + 2 * padding - reach) / stride + 1, kernel, stride, padding, dilation};
}

constexpr float bound_low = -0.5F, bound_high = 0.75F;

float activated(float y, Activation activation) {
  if (activation == Activation::relu) return std::max(y, 0.0F);
  return activation == Activation::clamp ? std::clamp(y, bound_low, bound_high) : y;
}

/// Bounds let nothing through.
bool passes(float y, Activation activation) {
  if (activation == Activation::relu) return y > 0;
  return activation == Activation::none || (y > bound_low && y < bound_high);
}

/// A tail of y by the definition, for one image.
struct SlowTail {
  std::vector<float> out, gradients;  ///< gradients of y

  SlowTail(const std::vector<float>& y, std::size_t height, std::size_t width, Joint joint,
           Activation activation, const std::vector<float>& given)
      : gradients(y.size()) {
    const std::size_t side = joint == Joint::pool ? 2 : 1;
    for (std::size_t row = 0; row + side <= height; row += side)
      for (std::size_t column = 0; column + side <= width; column += side) {
        std::size_t best = row * width + column;
        for (std::size_t r = row; r < row + side; ++r)
          for (std::size_t c = column; c < column + side; ++c)
            if (const std::size_t at = r * width + c; y[at] > y[best]) best = at;
        gradients[best] = passes(y[best], activation) ? given[out.size()] : 0;
        out.push_back(activated(y[best], activation));
      }
  }
};

void check_tail(std::size_t height, std::size_t width, Joint joint, Activation activation,
                const LaneKernels& kernels) {
  constexpr float by = -0.5F, plus = 0.25F, mean = 0.75F;  // products below are exact
  const PlaneGradient rule{mean, 0.125F, 0.5F, 2};
  Random random(height * 100 + width);
  const bool pool = joint == Joint::pool, sum_of_two = joint == Joint::sum;
  const std::size_t count = height * width;
  const std::size_t outputs = pool ? (height / 2) * (width / 2) : count;
  std::vector<float> x(lane_count * count), addend(x.size()), given(lane_count * outputs);
  // Quarters, so that squares hold ties, and bounds are met.
  for (float& value : x) value = static_cast<float>(std::round(random.normal() * 4)) / 4;
  for (float& value : addend) value = static_cast<float>(std::round(random.normal() * 4)) / 4;
  for (float& value : given) value = static_cast<float>(std::round(random.normal() * 8)) / 8;

  const BatchSizes sizes{lane_count, 1, count}, out_sizes{lane_count, 1, outputs};
  const auto lanes = in_lanes(x, sizes, kernels), from = in_lanes(given, out_sizes, kernels);
  const auto added = in_lanes(addend, sizes, kernels);
  const NormalisedPlane plane{lanes.data(), height,    width,      by,
                              plus,         bound_low, bound_high, added.data()};
  std::vector<float> out(plane_stride(outputs)), winners(out.size()), into(plane_stride(count));
  std::vector<float> passed(out.size());
  float sum[lane_count], product[lane_count];
  const Tail& tail =
      kernels.tails[static_cast<std::size_t>(joint)][static_cast<std::size_t>(activation)];
  tail.forward(plane, out.data(), winners.data());
  tail.sums({pool ? winners.data() : lanes.data(), out.data(), from.data(), outputs, mean,
             bound_low, bound_high, passed.data()},
            sum, product);
  tail.backward(plane, sum_of_two ? passed.data() : from.data(), rule, into.data());
  const auto found = in_rows(out, out_sizes, kernels), gradients = in_rows(into, sizes, kernels);
  const auto let_through = in_rows(passed, out_sizes, kernels);

  for (std::size_t image = 0; image < lane_count; ++image) {
    const auto own = [&](const std::vector<float>& values, std::size_t size) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(image * size);
      return std::vector<float>(first, first + static_cast<std::ptrdiff_t>(size));
    };
    const std::vector<float> own_x = own(x, count), own_addend = own(addend, count);
    std::vector<float> y(count), dx(count);
    for (std::size_t i = 0; i < count; ++i)
      y[i] = own_x[i] * by + plus + (sum_of_two ? own_addend[i] : 0);
    const SlowTail slow(y, height, width, joint, activation, own(given, outputs));
    float expected_sum = 0, expected_product = 0;
    for (std::size_t i = 0; i < count; ++i) {
      expected_sum += slow.gradients[i];
      expected_product += (own_x[i] - mean) * slow.gradients[i];
      dx[i] = (slow.gradients[i] - rule.average - (own_x[i] - mean) * rule.slope) * rule.factor;
    }
    CHECK(own(found, outputs) == slow.out);
    CHECK(sum[image] == expected_sum);
    CHECK(product[image] == expected_product);
    CHECK(own(gradients, count) == dx);
    if (!pool) CHECK(own(let_through, outputs) == slow.gradients);
  }
}

template <class Check>
void on_every_instruction_set(Check&& check) {
  for (const auto isa : simd::available_isas()) {
    INFO(simd::isa_name(isa));
    check(lane_kernels(isa));
  }
}

}  // namespace

TEST_CASE("convolutions over lanes equal their definition") {
  on_every_instruction_set([](const LaneKernels& kernels) {
    check_convolution({1, 8, 1, axis(10, 5, 1, 0, 1), axis(9, 5, 1, 0, 1)}, 33, kernels);
    check_convolution({3, 13, 1, axis(7, 3, 1, 1, 1), axis(8, 3, 1, 1, 1)}, 17, kernels);
    check_convolution({5, 4, 1, axis(9, 3, 2, 1, 1), axis(8, 2, 3, 0, 1)}, 16, kernels);
    check_convolution({2, 6, 2, axis(11, 3, 1, 2, 2), axis(12, 3, 2, 3, 3)}, 5, kernels);
    check_convolution({6, 6, 6, axis(6, 3, 1, 1, 1), axis(6, 3, 1, 1, 1)}, 20, kernels);
    check_convolution({4, 3, 1, axis(3, 1, 1, 0, 1), axis(5, 1, 1, 0, 1)}, 1, kernels);
    check_convolution({2, 2, 1, axis(1, 3, 1, 2, 1), axis(60, 4, 1, 3, 1)}, 2, kernels);
  });
}

TEST_CASE("pooling, sums, activations and their gradients over lanes equal their definition") {
  on_every_instruction_set([](const LaneKernels& kernels) {
    for (const Joint joint : {Joint::none, Joint::pool, Joint::sum})
      for (const auto activation : {Activation::none, Activation::relu, Activation::clamp})
        for (const std::size_t height : {2, 5, 8})
          for (const std::size_t width : {2, 3, 6}) {
            INFO("joint " << static_cast<int>(joint) << ", activation "
                          << static_cast<int>(activation) << ", " << height << " x " << width);
            check_tail(height, width, joint, activation, kernels);
          }
  });
}

TEST_CASE("NaN passes through pooling and ReLU over lanes") {
  on_every_instruction_set([](const LaneKernels& kernels) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t place = 0; place < 4; ++place) {
      std::vector<float> x(4 * lane_count, 1.0F), out(plane_stride(1));
      x[place * lane_count + 3] = nan;
      for (const auto activation : {Activation::relu, Activation::clamp}) {
        kernels.tails[1][static_cast<std::size_t>(activation)].forward(
            {.x = x.data(), .height = 2, .width = 2, .low = 0, .high = 6}, out.data(), nullptr);
        CHECK(std::isnan(out[3]));
        CHECK(out[2] == 1.0F);
      }
    }
  });
}

TEST_CASE("rows move into lanes and back, and lanes without an image are zero") {
  on_every_instruction_set([](const LaneKernels& kernels) {
    for (const std::size_t images : {1, 15, 16, 17, 40})
      for (const std::size_t positions : {1, 3, 4, 21}) {
        Random random(images);
        const BatchSizes sizes{images, 3, positions};
        const auto rows = normal(images * 3 * positions, random);
        auto lanes = in_lanes(rows, sizes, kernels);
        CHECK(in_rows(lanes, sizes, kernels) == rows);
        const std::size_t last = sizes.planes() - 1, image = last / 3 * lane_count + 15;
        const std::size_t end = last * plane_stride(positions) + (positions - 1) * lane_count + 15;
        const float corner = lanes[end];
        CHECK(corner == (image < images ? rows.back() : 0.0F));
        lanes[end] = 7;
        clear_unused_lanes(lanes.data(), sizes);
        CHECK(lanes[end] == (image < images ? 7.0F : 0.0F));
      }
  });
}
