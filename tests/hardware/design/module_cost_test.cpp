// SPDX-License-Identifier: Apache-2.0
// Costs of matrix, elementwise and plumbing modules against resources measured with Yosys, and what
// follows from the contents of small memories.
#include <catch2/catch.hpp>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "hardware/design/module_table.hpp"
#include "hardware/design/modules/binary.hpp"
#include "hardware/design/modules/cast.hpp"
#include "hardware/design/modules/channel_shift.hpp"
#include "hardware/design/modules/constant_linear.hpp"
#include "hardware/design/modules/depthwise.hpp"
#include "hardware/design/modules/divide.hpp"
#include "hardware/design/modules/linear.hpp"
#include "hardware/design/modules/lookup.hpp"
#include "hardware/design/modules/octave_pieces.hpp"
#include "hardware/design/modules/piecewise.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/modules/scale_shift.hpp"
#include "hardware/design/modules/square_root.hpp"

namespace mase::design {
namespace {

/// Within 10 % each and within 5 % together; DSP blocks and block memory exactly.
void check(const std::string& module, const std::vector<Measurement>& rows) {
  double measured = 0, predicted = 0;
  for (const Measurement& row : rows) {
    const Cost cost = row.module->cost({});
    INFO(module << ": " << row.lut_and_carry << " measured, " << cost.lut + cost.carry
                << " predicted");
    CHECK(std::abs(cost.lut + cost.carry - row.lut_and_carry) < 0.1 * row.lut_and_carry);
    CHECK(cost.dsp == row.dsp);
    CHECK(cost.bram == row.bram);
    measured += row.lut_and_carry;
    predicted += cost.lut + cost.carry;
  }
  CHECK(std::abs(predicted - measured) < 0.05 * measured);
}

template <HardwareModule T>
void check(const std::vector<Measured<T>>& rows) {
  check(std::string(T::module_name), measurements(rows));
}

Requantisation rounded(int out, int shift, std::int64_t low, std::int64_t high) {
  return {.out_bits = out, .shift = shift, .low = {low, 64}, .high = {high, 64}};
}

Requantisation rounded_down(int out, int shift, std::int64_t low, std::int64_t high) {
  Requantisation requantisation = rounded(out, shift, low, high);
  requantisation.rounding = 0;
  return requantisation;
}

/// Unsigned inputs and signed weights, as behind a relu.
LinearModule linear(const ProductShape& shape, int in, int weight, int bias, int acc,
                    const Requantisation& requantisation) {
  LinearModule module;
  module.columns = shape.columns;
  module.passes = shape.rows;
  module.simd = shape.simd;
  module.pe = shape.pe;
  static_cast<Operands&>(module) = {in, false, weight, true, acc};
  module.bias_bits = bias;
  static_cast<Requantisation&>(module) = requantisation;
  return module;
}

/// Signed inputs of 8 bits, weights of 6 and biases of 12.
DepthwiseModule depthwise(std::int64_t beats, std::int64_t blocks, std::int64_t groups,
                          std::int64_t taps, std::int64_t channels, std::int64_t outputs,
                          Multiplier multiplier) {
  DepthwiseModule module{{}, beats, blocks, groups, taps, channels, outputs};
  static_cast<Operands&>(module) = {8, true, 6, true, 18};
  module.bias_bits = 12;
  static_cast<Requantisation&>(module) = rounded(8, 7, -128, 127);
  module.multiplier = static_cast<int>(multiplier);
  return module;
}

// Yosys 0.23 as below, of whole modules with random weights.
TEST_CASE("Booth rows of any width and number cost what Yosys measured") {
  const auto booth = [](int in, int weight, std::int64_t lanes, int acc) {
    LinearModule module =
        linear({16, 4, lanes, 1}, in, weight, 1, acc, rounded(8, acc - 10, -128, 127));
    module.in_signed = true;
    module.has_bias = false;
    module.multiplier = static_cast<int>(Multiplier::fabric);
    return module;
  };
  check<LinearModule>({{booth(12, 12, 4, 34), 531 + 112, 0, 1},
                       {booth(16, 8, 4, 34), 470 + 93, 0, 0.5},
                       {booth(16, 16, 2, 40), 518 + 96, 0, 0.5},
                       {booth(8, 8, 2, 24), 180 + 35, 0, 0.5}});
}

// Yosys 0.23 as below, of whole modules with random weights.
TEST_CASE("dot products of short codes cost what Yosys measured, within a tenth") {
  using integer::FloatCode;
  const auto linear_of = [](std::optional<FloatCode> in, const FloatCode& weight, int acc,
                            bool decode = false) {
    LinearModule module = linear({16, 4, 8, 2}, 8, 8, 1, acc, rounded(8, 4, -128, 127));
    module.in_signed = true;
    module.has_bias = false;
    module.multiplier = static_cast<int>(Multiplier::fabric);
    if (in) module.set_in_code(*in);
    module.set_weight_code(weight);
    module.term_stages = term_stages_of(module);
    if (decode) module.set_decode();
    return module;
  };
  const FloatCode e4m3{8, 3, true, true, 19}, e5m2{8, 2, true, true, 33},
      e3m2{6, 2, true, true, 10}, e2m1{4, 1, true, true, 5}, log{5, 0, true, true, 16},
      ternary{2, 0, true, true, 2}, binary{1, 0, true, false, 2};
  check<LinearModule>({{linear_of(e4m3, e4m3, 46), 2099 + 239, 0, 2},
                       {linear_of(e5m2, e5m2, 64), 2769 + 307, 0, 2},
                       {linear_of(e3m2, e3m2, 28), 1129 + 117, 0, 1.5},
                       {linear_of(e2m1, e2m1, 18), 495 + 65, 0, 1},
                       {linear_of(std::nullopt, e4m3, 36), 1746 + 277, 0, 2},
                       {linear_of(std::nullopt, log, 32), 1049 + 131, 0, 1.5},
                       {linear_of(std::nullopt, ternary, 18), 299 + 63, 0, 0.5},
                       {linear_of(std::nullopt, binary, 18), 299 + 63, 0, 0.5},
                       {linear_of(binary, binary, 14), 102 + 17, 0, 0.5},
                       {linear_of(std::nullopt, e2m1, 21), 872 + 161, 0, 1},
                       {linear_of(std::nullopt, e2m1, 21, true), 798 + 197, 0, 1},
                       {linear_of(e2m1, e2m1, 18, true), 660 + 147, 0, 1}});
  // Yosys's counts above say so of e2m1; the numbers of e4m3 have 19 bits.
  const auto pay = [&](std::optional<FloatCode> in, const FloatCode& weight, int acc) {
    const LinearModule module = linear_of(in, weight, acc);
    return decoders_pay(module, module.shape());
  };
  CHECK(pay(std::nullopt, e2m1, 21));
  CHECK_FALSE(pay(e2m1, e2m1, 18));
  CHECK_FALSE(pay(std::nullopt, e4m3, 36));
}

// Yosys 0.23 as above; four beats of 16 x 2 products.
TEST_CASE("sums of products of codes under exponents cost what Yosys measured") {
  using integer::FloatCode;
  struct Codes {
    FloatCode in, weight;
    int weight_exponent, acc;
  };
  const auto linear_of = [](const Codes& codes) {
    LinearModule module = linear({4, 32, 16, 2}, 8, 8, 16, codes.acc, rounded(8, 16, -128, 127));
    module.multiplier = static_cast<int>(Multiplier::fabric);
    module.set_in_code(codes.in);
    module.set_weight_code(codes.weight);
    module.term_stages = term_stages_of(module);
    module.in_exponent = 4;
    if (codes.weight_exponent > 0) module.weight_exponent = codes.weight_exponent;
    module.dot_bits = module.signed_in() + module.signed_weight() + 4;
    return module;
  };
  const FloatCode e2m1{4, 1, true, true, 5}, e3m2{6, 2, true, true, 10}, e4m3{8, 3, true, true, 19};
  const FloatCode positive_e2m1{3, 1, false, true, 4}, positive_e4m3{7, 3, false, true, 18};
  LinearModule decoded = linear_of({positive_e2m1, e2m1, 2, 30});
  decoded.set_weight_numbers();
  decoded.set_decode();
  check<LinearModule>(
      {{linear_of({positive_e2m1, e2m1, 2, 30}), 1075 + 130 + 36, 0, 2.5},
       {decoded, 1235 + 292 + 36, 0, 3},
       {linear_of({e3m2, e3m2, 2, 40}), 2370 + 226 + 68, 0, 3.5},
       {linear_of({positive_e4m3, e4m3, 2, 54}), 4352 + 460 + 80, 0, 4.5},
       {linear_of({positive_e4m3, {8, 3, true, true, 16}, 0, 53}), 4015 + 442 + 80, 0, 4.5}});
}

// Yosys 0.23, synth_xilinx -family xc7 -noiopad -noclkbuf -flatten, beside a longer path that is
// subtracted (scripts/bench/calibrate.py); LUT RAM as its LUTs. Instances of the shipped models.
TEST_CASE("sums and choices of two streams cost what Yosys measured") {
  const auto binary = [](int operation, int width, int shift, int acc, int out, int half) {
    const std::int64_t least = -(std::int64_t{1} << (out - 1));
    BinaryModule module{rounded(out, half, least, -least - 1)};
    module.operation = operation;
    module.lanes = 4;
    module.a_bits = module.b_bits = width;
    module.a_shift = shift;
    module.result_bits = acc;
    return module;
  };
  check<BinaryModule>({{binary(0, 8, 3, 12, 8, 4), 151 + 24, 0, 0},
                       {binary(3, 8, 0, 8, 8, 0), 167, 0, 0},
                       {binary(3, 8, 3, 12, 8, 4), 193 + 12, 0, 0},
                       {binary(4, 12, 0, 12, 12, 0), 239, 0, 0},
                       {binary(2, 8, 0, 16, 8, 8), 123, 4, 0}});
}

TEST_CASE("quotients of two streams cost what Yosys measured, within a tenth") {
  const auto divide = [](int width, int shift, int bits) {
    const std::int64_t least = -(std::int64_t{1} << (width - 1));
    DivideModule module{rounded(width, 2, least, -least - 1)};
    module.a_bits = module.b_bits = width;
    module.a_shift = shift;
    module.quotient_bits = bits;
    return module;
  };
  check<DivideModule>({{divide(4, 3, 5), 91 + 16, 0, 0},
                       {divide(8, 5, 9), 229 + 37, 0, 0},
                       {divide(12, 7, 13), 429 + 67, 0, 0}});
}

TEST_CASE("square roots cost what Yosys measured, within a tenth") {
  const auto root = [](int width, int shift, int bits) {
    return SquareRootModule{.in_bits = width, .shift = shift, .root_bits = bits};
  };
  check<SquareRootModule>({{root(8, 0, 4), 22 + 7, 0, 0},
                           {root(16, 0, 8), 74 + 18, 0, 0},
                           {root(12, 12, 12), 153 + 30, 0, 0},
                           {root(48, 0, 24), 602 + 102, 0, 0}});
}

TEST_CASE("costs of the matrix family are those that Yosys finds, within a tenth") {
  check<LinearModule>(
      {{linear({25, 1, 1, 8}, 8, 8, 15, 19, rounded(8, 9, 0, 255)), 254 + 66, 8, 1},
       {linear({50, 4, 4, 4}, 8, 6, 13, 19, rounded(6, 8, 0, 63)), 196 + 40, 16, 1.5},
       {linear({256, 64, 1, 1}, 6, 6, 7, 18, rounded(8, 5, 0, 255)), 131 + 19, 1, 3},
       {linear({64, 10, 1, 1}, 8, 8, 8, 18, rounded(18, 0, -84660, 54825)), 96 + 22, 1, 0.5},
       {linear({1, 16, 16, 1}, 8, 8, 11, 18, rounded(6, 8, 0, 63)), 78 + 16, 16, 2}});
  const std::string weights =
      "81ff3e37a08511280681f07a820135cbd44bfb4d5a8106480bb4b1db40b62453bf1d9df5d8de522d1c020bdd464e"
      "000f69df8df81305ec70ac3a007b";
  const ConstantLinearModule constant{
      {8, false, 6, true, 17}, {true, 12}, rounded(8, 6, 0, 255), 16, 5, {weights, 480}};
  check<ConstantLinearModule>({{constant, 1373 + 485, 0, 0}});
}

TEST_CASE("costs of groups side by side are those that Yosys finds, within a tenth") {
  constexpr Multiplier any = Multiplier::automatic, booth = Multiplier::fabric;
  check<DepthwiseModule>({{depthwise(9, 2, 4, 1, 1, 1, any), 170 + 39, 4, 0},
                          {depthwise(9, 2, 4, 1, 1, 1, booth), 347 + 63, 0, 0},
                          {depthwise(1, 8, 2, 9, 1, 1, any), 199 + 30, 18, 0},
                          {depthwise(1, 8, 2, 9, 1, 1, booth), 902 + 192, 0, 0},
                          {depthwise(3, 4, 4, 3, 1, 2, any), 264 + 73, 24, 2},
                          {depthwise(3, 4, 2, 3, 2, 2, booth), 1078 + 261, 0, 2}});
}

TEST_CASE("costs of scale_shift and cast are those that Yosys finds, within a tenth") {
  ScaleShiftModule scale_shift{rounded(8, 5, 0, 255)};
  scale_shift.lanes = 16;
  scale_shift.shift_bits = 12;
  scale_shift.sum_bits = 15;
  check<ScaleShiftModule>({{scale_shift, 163 + 48, 16, 0}});
  const auto cast = [](std::int64_t lanes, int bits, bool is_signed, int out, int shift,
                       std::int64_t low, std::int64_t high) {
    return CastModule{rounded(out, shift, low, high), lanes, bits, is_signed};
  };
  check<CastModule>({{cast(32, 8, true, 8, 2, -128, 127), 291 + 64, 0, 0}});
  // No bound is passed, one, both, and bounds that are compared with.
  check<CastModule>({{cast(4, 7, false, 8, 1, 0, 127), 39 + 8, 0, 0},
                     {cast(4, 17, false, 7, 7, 0, 127), 47 + 12, 0, 0},
                     {cast(4, 16, true, 8, 4, 0, 255), 43 + 16, 0, 0},
                     {cast(4, 16, true, 8, 4, -128, 127), 47 + 16, 0, 0},
                     {cast(4, 16, true, 8, 4, 0, 96), 39 + 32, 0, 0},
                     {cast(4, 9, true, 8, 0, -64, 64), 39 + 12, 0, 0}});
}

TEST_CASE("costs of channel_shift are those that Yosys finds, within a tenth") {
  const auto shift = [](std::int64_t blocks, std::int64_t lanes, int in, int distance, int shifted,
                        const Requantisation& requantisation) {
    return ChannelShiftModule{requantisation, blocks, lanes, in, true, distance, shifted};
  };
  check<ChannelShiftModule>({{shift(8, 8, 18, 1, 19, rounded(8, 10, -128, 127)), 256 + 25, 0, 0},
                             {shift(8, 4, 18, 2, 21, rounded(8, 10, -128, 127)), 172 + 17, 0, 0},
                             {shift(4, 16, 16, 2, 19, rounded(8, 8, -128, 127)), 554 + 64, 0, 0},
                             {shift(16, 8, 20, 3, 27, rounded(8, 14, -128, 127)), 584 + 33, 0, 0},
                             {shift(32, 1, 19, 3, 26, rounded(8, 12, 0, 255)), 82 + 6, 0, 0},
                             {shift(8, 8, 18, 4, 33, rounded(8, 10, -128, 127)), 785 + 57, 0, 0},
                             {shift(1, 16, 18, 2, 21, rounded(8, 10, -128, 127)), 199 + 52, 0, 0}});
}

TEST_CASE("tables cost what Yosys measured, in LUTs and in block memory, within a tenth") {
  const auto table = [](std::int64_t lanes, int in, int out) {
    return LookupModule{.lanes = lanes, .in_bits = in, .out_bits = out};
  };
  check<LookupModule>({{table(2, 9, 8), 163, 0, 0},
                       {table(1, 10, 7), 131, 0, 0},
                       {table(1, 10, 8), 11, 0, 0.5},
                       {table(1, 11, 2), 85, 0, 0},
                       {table(1, 11, 3), 116, 0, 0},
                       {table(4, 11, 16), 67, 0, 4},
                       {table(1, 12, 1), 85, 0, 0},
                       {table(1, 12, 8), 11, 0, 1},
                       {table(2, 12, 16), 35, 0, 4}});
}

TEST_CASE("functions in straight pieces cost what Yosys measured, within a tenth") {
  const auto pieces = [](std::int64_t lanes, int in, int low, int slope, bool is_signed, int base,
                         int sum, const Requantisation& requantisation, int multiplier = 0) {
    return PiecewiseModule{requantisation, lanes, in,  low,        slope,
                           is_signed,      base,  sum, multiplier, ""};
  };
  check<PiecewiseModule>(
      {{pieces(1, 16, 8, 12, true, 20, 20, rounded_down(8, 11, -128, 127)), 13, 1, 0.5},
       {pieces(1, 16, 8, 12, true, 28, 28, rounded_down(16, 11, -32768, 32767)), 21, 1, 1},
       {pieces(4, 16, 11, 12, true, 23, 23, rounded_down(8, 14, 0, 255)), 175, 4, 0},
       {pieces(2, 13, 7, 10, false, 19, 20, rounded_down(8, 10, 0, 200)), 77 + 6, 2, 0},
       {pieces(1, 16, 5, 12, true, 25, 25, rounded_down(16, 8, -32768, 32767)), 21, 1, 2.5},
       {pieces(1, 14, 4, 10, true, 24, 24, rounded_down(16, 7, -32768, 32767), 2), 74 + 16, 0, 1}});
}

TEST_CASE("functions in pieces of octaves cost what Yosys measured, within a tenth") {
  const auto pieces = [](int in, int octaves, int place, int low) {
    const PiecewiseModule lines{
        rounded_down(8, 11, -128, 127), 1, 16, low, 12, true, 20, 20, 0, ""};
    return OctavePiecesModule{lines, in, true, octaves, place};
  };
  check<OctavePiecesModule>({{pieces(20, 2, 5, 6), 51, 1, 0.5},
                             {pieces(24, 3, 4, 7), 56, 1, 0.5},
                             {pieces(32, 3, 5, 12), 74, 1, 0.5},
                             {pieces(24, 4, 3, 8), 76, 1, 0.5},
                             {pieces(40, 4, 4, 12), 99, 1, 0.5},
                             {pieces(32, 5, 3, 9), 110, 1, 0.5},
                             {pieces(40, 5, 3, 8), 117, 1, 0.5}});
}

TEST_CASE("modules cost what Yosys measured of them, within a tenth") {
  std::size_t compared = 0;
  for (const ModuleRow& row : module_table()) {
    if (!row.measured) continue;
    check(row.name, row.measured());
    ++compared;
  }
  CHECK(compared > 0);
}

TEST_CASE("a small memory costs a LUT for every different column that is no wire") {
  Memory image;
  // Bits 0 to 4: the address, a constant, its two bits' sum twice, their product.
  for (const int word : {0b00010, 0b01111, 0b01110, 0b10011})
    image.words.push_back(std::string(word > 15 ? "1" : "0") + "0123456789abcdef"[word % 16]);
  const Cost cost = table_cost(5, 4, &image);
  CHECK(cost.lut == 2);
  CHECK(cost.ff == 3);
  image.words.assign(4, "1f");
  CHECK(table_cost(5, 4, &image).lut == 0);
  CHECK(table_cost(5, 4, &image).ff == 0);
}

TEST_CASE("a table in LUTs shares the words that repeat") {
  Memory image;
  for (int word = 0; word < 256; ++word) image.words.push_back(word % 64 < 7 ? "1" : "0");
  const double repeated = table_cost(1, 256, &image).lut;
  for (int word = 0; word < 256; ++word) image.words[word] = word % 61 < 7 ? "1" : "0";
  CHECK(repeated < table_cost(1, 256, &image).lut);
}

}  // namespace
}  // namespace mase::design
