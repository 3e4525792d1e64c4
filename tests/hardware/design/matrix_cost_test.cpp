// SPDX-License-Identifier: Apache-2.0
// Laws of the matrix modules' handshake models and costs that follow from their structure.
#include <catch2/catch.hpp>

#include "hardware/design/modules/constant_linear.hpp"
#include "hardware/design/modules/depthwise.hpp"
#include "hardware/design/modules/linear.hpp"
#include "hardware/design/timing/predict.hpp"

namespace mase::design {
namespace {

using integer::FixedType;

/// A design of one instance with a stream of `in` beats and one of `out` beats a frame.
template <HardwareModule T>
Design alone(const T& module, std::int64_t in, std::int64_t out) {
  Design design;
  design.streams.push_back({"x", 1, FixedType{}, in, -1});
  design.streams.push_back({"y", 1, FixedType{}, out, -1});
  design.inputs = {0};
  design.outputs = {1};
  design.instances.push_back({"unit", "", module, {0}, {1}});
  return design;
}

LinearModule linear_of(std::int64_t sf, std::int64_t nf, std::int64_t simd,
                       Multiplier multiplier = Multiplier::dsp) {
  LinearModule module{{}, sf, nf, 1, simd, 1};
  static_cast<Operands&>(module) = {8, true, 6, true, 18};
  module.bias_bits = 16;
  module.shift = 7;
  module.multiplier = static_cast<int>(multiplier);
  return module;
}

template <HardwareModule T>
Cost cost_of(const T& module) {
  const Design design = alone(module, 1, 1);
  return instance_cost(design, design.instances[0]);
}

TEST_CASE("a folded linear takes SF * NF cycles a row and SF + 10 to its first beat") {
  for (const std::int64_t sf : {1, 2, 8})
    for (const std::int64_t nf : {1, 3, 8}) {
      const Timing timing = predict(alone(linear_of(sf, nf, 8), sf, nf));
      CHECK(timing.first == sf + 10);  // of eight lanes: four pairs
      CHECK(timing.last == sf * nf + 10);
      CHECK(timing.interval == sf * nf);
    }
}

// Word, operands, products, accumulator, rounding and skid are six registers; one for each pair of
// at most eight lanes follows, and one for each level of the tree above. Booth rows have one for
// every two levels of additions.
TEST_CASE("wider dot products add a stage for every pair of lanes, then for every doubling") {
  constexpr Multiplier any = Multiplier::automatic, dsp = Multiplier::dsp,
                       booth = Multiplier::fabric;
  const auto first = [](std::int64_t simd, Multiplier multiplier) {
    return predict(alone(linear_of(1, 1, simd, multiplier), 1, 1)).first;
  };
  CHECK(first(1, any) == 8);
  CHECK(first(2, any) == 8);
  CHECK(first(3, dsp) == 9);
  CHECK(first(8, any) == 11);
  CHECK(first(9, any) == 12);
  CHECK(first(16, any) == 12);
  CHECK(first(17, any) == 13);
  CHECK(first(64, any) == 14);
  CHECK(first(4, booth) == 7);
  CHECK(first(8, booth) == 8);
  CHECK(first(16, booth) == 9);
  CHECK(first(32, booth) == 9);
  CHECK(first(64, booth) == 10);
}

TEST_CASE("registers behind the tool's multipliers are a cycle and their flip-flops each") {
  LinearModule linear = linear_of(4, 2, 4);
  const Timing before = predict(alone(linear, 4, 2));
  const Cost cost = cost_of(linear);
  linear.product_stages = 2;
  const Timing after = predict(alone(linear, 4, 2));
  CHECK(after.first == before.first + 2);
  CHECK(after.interval == before.interval);
  // Sums of four products of 8 and 6 bits, and three marks of a step.
  CHECK(cost_of(linear).ff == Approx(cost.ff + 2 * (16 + 3)));
  // Booth rows have registers of their own.
  linear.multiplier = static_cast<int>(Multiplier::fabric);
  const Timing booth = predict(alone(linear, 4, 2));
  linear.product_stages = 0;
  CHECK(booth.first == predict(alone(linear, 4, 2)).first);
}

TEST_CASE("a depthwise block of N beats gives its beat after N + 7 cycles") {
  const auto timing = [](std::int64_t n, std::int64_t taps, std::int64_t channels) {
    DepthwiseModule module;
    module.beats = n;
    module.taps = taps;
    module.channels = channels;
    return predict(alone(module, n, 1));
  };
  CHECK(timing(9, 1, 1).first == 16);
  CHECK(timing(9, 1, 1).interval == 9);
  // Dot products of three lanes have two pairs, those of eighteen four and two doublings.
  CHECK(timing(3, 3, 1).first == 3 + 8);
  CHECK(timing(3, 3, 1).interval == 3);
  CHECK(timing(1, 9, 2).first == 1 + 12);
  CHECK(timing(1, 9, 2).interval == 1);
}

TEST_CASE("DSP blocks are predicted by the operands that synthesis gives them") {
  const auto blocks = [](int in, int weight, std::int64_t simd) {
    LinearModule module = linear_of(4, 1, simd);
    module.in_bits = in;
    module.weight_bits = weight;
    return cost_of(module).dsp;
  };
  CHECK(blocks(8, 6, 8) == 8);
  CHECK(blocks(4, 4, 8) == 0);  // a product of eight bits
  CHECK(blocks(5, 4, 8) == 8);
  CHECK(blocks(12, 1, 8) == 0);  // one bit is no multiplication
}

/// Signed inputs of 8 bits and weights of 2, given as digits; without biases and rounding.
double carry_of(std::int64_t inputs, std::int64_t outputs, const char* weights) {
  ConstantLinearModule module{{8, true, 2, true, 12}, {false, 1}, {}, inputs, outputs};
  module.out_bits = 12;
  module.rounding = 0;
  module.weights = {weights, inputs * outputs * module.weight_bits};
  return cost_of(module).carry;
}

TEST_CASE("constant weights without a bit set cost no adders, and equal outputs share theirs") {
  CHECK(carry_of(4, 1, "00") == 0);
  const double one = carry_of(4, 1, "05");  // x0 + x1
  CHECK(one > 0);
  CHECK(carry_of(4, 2, "0505") == one);
}

TEST_CASE("outputs with constant weights share the sums of aligned groups of their inputs") {
  const auto carry = [](std::int64_t outputs, const char* weights) {
    return carry_of(16, outputs, weights);
  };
  const double all = carry(1, "55555555");
  // The first eight inputs are a half of all of them.
  CHECK(carry(2, "0000555555555555") == all);
  // The fours of the eight in the middle are shared; one sum of 8 + 4 bits and a carry is new.
  CHECK(carry(2, "0055550055555555") == all + 4);
}

}  // namespace
}  // namespace mase::design
