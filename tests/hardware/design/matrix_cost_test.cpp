// SPDX-License-Identifier: Apache-2.0
// Laws of the matrix modules' handshake models and costs that follow from their structure.
#include <catch2/catch.hpp>

#include "hardware/design/module_table.hpp"
#include "hardware/design/timing/predict.hpp"

namespace mase::design {
namespace {

using integer::FixedType;

/// A design of one instance with a stream of `in` beats and one of `out` beats a frame.
Design alone(const std::string& module, const ModuleParameters& parameters, std::int64_t in,
             std::int64_t out) {
  Design design;
  design.streams.push_back({"x", 1, FixedType{}, in, -1});
  design.streams.push_back({"y", 1, FixedType{}, out, -1});
  design.inputs = {0};
  design.outputs = {1};
  design.instances.push_back({"unit", module, "", parameters, {0}, {1}});
  return design;
}

ModuleParameters linear_parameters(std::int64_t sf, std::int64_t nf, std::int64_t simd) {
  return {{"SF", sf},   {"NF", nf},       {"SETS", 1}, {"SIMD", simd}, {"PE", 1},
          {"AW", 8},    {"ASIGNED", 1},   {"WW", 6},   {"WSIGNED", 1}, {"HAS_BIAS", 1},
          {"BW", 16},   {"ACCW", 18},     {"OW", 8},   {"SHIFT", 7},   {"DIVISOR", 1},
          {"ROUND", 1}, {"MULTIPLIER", 1}};
}

Cost cost_of(const std::string& module, const ModuleParameters& parameters) {
  const Design design = alone(module, parameters, 1, 1);
  return instance_cost(design, design.instances[0]);
}

TEST_CASE("a folded linear takes SF * NF cycles a row and SF + 10 to its first beat") {
  for (const std::int64_t sf : {1, 2, 8})
    for (const std::int64_t nf : {1, 3, 8}) {
      const Timing timing = predict(alone("mase_linear", linear_parameters(sf, nf, 8), sf, nf));
      CHECK(timing.first == sf + 10);  // of eight lanes: four pairs
      CHECK(timing.last == sf * nf + 10);
      CHECK(timing.interval == sf * nf);
    }
}

// Word, operands, products, accumulator, rounding and skid are six registers; one for each pair of
// at most eight lanes follows, and one for each level of the tree above. Booth rows have one for
// every two levels of additions.
TEST_CASE("wider dot products add a stage for every pair of lanes, then for every doubling") {
  const auto first = [](std::int64_t simd, std::int64_t multiplier) {
    ModuleParameters parameters = linear_parameters(1, 1, simd);
    parameters.set("MULTIPLIER", multiplier);
    return predict(alone("mase_linear", parameters, 1, 1)).first;
  };
  CHECK(first(1, 0) == 8);
  CHECK(first(2, 0) == 8);
  CHECK(first(3, 1) == 9);
  CHECK(first(8, 0) == 11);
  CHECK(first(9, 0) == 12);
  CHECK(first(16, 0) == 12);
  CHECK(first(17, 0) == 13);
  CHECK(first(64, 0) == 14);
  CHECK(first(4, 2) == 7);
  CHECK(first(8, 2) == 8);
  CHECK(first(16, 2) == 9);
  CHECK(first(32, 2) == 9);
  CHECK(first(64, 2) == 10);
}

TEST_CASE("registers behind the tool's multipliers are a cycle and their flip-flops each") {
  ModuleParameters parameters = linear_parameters(4, 2, 4);
  const Timing before = predict(alone("mase_linear", parameters, 4, 2));
  const Cost cost = cost_of("mase_linear", parameters);
  parameters.set("PRODUCT_STAGES", std::int64_t{2});
  const Timing after = predict(alone("mase_linear", parameters, 4, 2));
  CHECK(after.first == before.first + 2);
  CHECK(after.interval == before.interval);
  // Sums of four products of 8 and 6 bits, and three marks of a step.
  CHECK(cost_of("mase_linear", parameters).ff == Approx(cost.ff + 2 * (16 + 3)));
  // Booth rows have registers of their own.
  parameters.set("MULTIPLIER", std::int64_t{2});
  const Timing booth = predict(alone("mase_linear", parameters, 4, 2));
  parameters.set("PRODUCT_STAGES", std::int64_t{0});
  CHECK(booth.first == predict(alone("mase_linear", parameters, 4, 2)).first);
}

TEST_CASE("a depthwise block of N beats gives its beat after N + 7 cycles") {
  const auto timing = [](std::int64_t n, std::int64_t taps, std::int64_t channels) {
    const ModuleParameters parameters{
        {"N", n}, {"TAPS", taps}, {"CHANNELS", channels}, {"MULTIPLIER", 0}};
    return predict(alone("mase_depthwise", parameters, n, 1));
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
  const auto blocks = [](std::int64_t aw, std::int64_t ww, std::int64_t simd) {
    return cost_of("mase_linear", linear_parameters(4, 1, simd).set("AW", aw).set("WW", ww)).dsp;
  };
  CHECK(blocks(8, 6, 8) == 8);
  CHECK(blocks(4, 4, 8) == 0);  // a product of eight bits
  CHECK(blocks(5, 4, 8) == 8);
  CHECK(blocks(12, 1, 8) == 0);  // one bit is no multiplication
}

TEST_CASE("constant weights without a bit set cost no adders, and equal outputs share theirs") {
  ModuleParameters parameters{{"INPUTS", 4},   {"OUTPUTS", 1},
                              {"AW", 8},       {"ASIGNED", 1},
                              {"WW", 2},       {"WSIGNED", 1},
                              {"HAS_BIAS", 0}, {"BW", 1},
                              {"ACCW", 12},    {"OW", 12},
                              {"SHIFT", 0},    {"DIVISOR", 1},
                              {"ROUND", 0},    {"WEIGHTS", HexBits{"00", 8}}};
  const double none = cost_of("mase_constant_linear", parameters).carry;
  CHECK(none == 0);
  parameters.set("WEIGHTS", HexBits{"05", 8});  // x0 + x1
  const double one = cost_of("mase_constant_linear", parameters).carry;
  CHECK(one > 0);
  parameters.set("OUTPUTS", std::int64_t{2}).set("WEIGHTS", HexBits{"0505", 16});
  CHECK(cost_of("mase_constant_linear", parameters).carry == one);
}

TEST_CASE("outputs with constant weights share the sums of aligned groups of their inputs") {
  const auto carry = [](std::int64_t outputs, const char* weights) {
    ModuleParameters parameters{{"INPUTS", 16},  {"OUTPUTS", outputs},
                                {"AW", 8},       {"ASIGNED", 1},
                                {"WW", 2},       {"WSIGNED", 1},
                                {"HAS_BIAS", 0}, {"BW", 1},
                                {"ACCW", 12},    {"OW", 12},
                                {"SHIFT", 0},    {"DIVISOR", 1},
                                {"ROUND", 0},    {"WEIGHTS", HexBits{weights, 32 * outputs}}};
    return cost_of("mase_constant_linear", parameters).carry;
  };
  const double all = carry(1, "55555555");
  // The first eight inputs are a half of all of them.
  CHECK(carry(2, "0000555555555555") == all);
  // The fours of the eight in the middle are shared; one sum of 8 + 4 bits and a carry is new.
  CHECK(carry(2, "0055550055555555") == all + 4);
}

}  // namespace
}  // namespace mase::design
