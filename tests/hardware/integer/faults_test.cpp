// SPDX-License-Identifier: Apache-2.0
// Flipped bits of constants: what a flip changes, and which frame shows it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "hardware/integer/faults.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using namespace mase::integer;

namespace {

/// A linear layer with bias, a table, constants beside it, and a linear layer.
Program small_program() {
  Sketch sketch;
  const auto x = sketch.input({2, 6});
  const auto y = sketch.linear(x, 5, eight);
  const auto z = sketch.call("aten::sigmoid", {{"self", ref(y)}}, {2, 5},
                             {{"data_in", "integer(6, 2)"}, {"data_out", "integer(8, 6)"}});
  const auto c = sketch.parameter({1, 2}, 1);
  const auto all = sketch.call(
      "aten::cat", {{"tensors", ir::Value::list({ref(c), ref(z)})}, {"dim", ir::Value(1)}}, {2, 7});
  return lower(sketch.finish(sketch.linear(all, 3, eight)));
}

std::vector<Codes> random_codes(const Program& program, std::int64_t frames) {
  Random random(11);
  const StreamValue& value = program.value(program.inputs[0]);
  Codes codes;
  for (std::int64_t i = 0; i < frames * value.elements(); ++i)
    codes.push_back(static_cast<std::int64_t>(random.below(256)) - 128);
  return {codes};
}

/// The same flip, by the rules of two's complement and by hand.
void flip_by_hand(Program& program, const ConstantBit& bit) {
  Step& step = program.steps[bit.step];
  const auto flip = [&](auto& code, int width) {
    const auto range = std::int64_t{1} << width;
    auto bits = static_cast<std::int64_t>(code) & (range - 1);
    bits ^= std::int64_t{1} << bit.bit;
    code = bits >= range / 2 ? bits - range : bits;
  };
  if (auto* linear = std::get_if<Linear>(&step.operation)) {
    if (bit.kind == ConstantKind::factor)
      flip(linear->weight[at(bit.index)], 6);
    else
      flip(linear->bias[at(bit.index)], codes_width(linear->bias));
    step.low = -(Wide{1} << 40);  // wide enough for any weights
    step.high = Wide{1} << 40;
  } else if (auto* insert = std::get_if<Insert>(&step.operation)) {
    flip(insert->codes[at(bit.index)], 8);
  } else {
    auto& entry = std::get<Lookup>(step.operation).table[at(bit.index)];
    entry ^= std::int64_t{1} << bit.bit;  // a sigmoid is unsigned
  }
}

}  // namespace

TEST_CASE("a bit is shown by the first frame whose outputs differ") {
  const Program program = small_program();
  constexpr std::int64_t frames = 50;
  const std::vector<Codes> inputs = random_codes(program, frames);
  const std::vector<Codes> outputs = Interpreter(program).run(inputs, frames);
  const ConstantBits bits(program);
  FaultSimulator simulator(program);
  Random random(3);
  int shown = 0;
  for (int i = 0; i < 200; ++i) {
    const ConstantBit bit = bits.draw(random);
    Program faulty = program;
    flip_by_hand(faulty, bit);
    const Codes results = Interpreter(faulty).run(inputs, frames)[0];
    const auto differs = std::ranges::mismatch(results, outputs[0]).in1;
    const std::int64_t first = differs == results.end() ? -1 : (differs - results.begin()) / 3;
    INFO(bit.step << " " << bit.index << " " << bit.bit);
    CHECK(simulator.shown_by(bit, inputs, outputs, frames) == first);
    shown += first >= 0 ? 1 : 0;
  }
  CHECK(shown > 100);
  // The simulator is as it was.
  CHECK(simulator.program().steps[0].low == program.steps[0].low);
  CHECK(std::get<Linear>(simulator.program().steps[0].operation).weight ==
        std::get<Linear>(program.steps[0].operation).weight);
}

TEST_CASE("bits are drawn from all constants, or evenly from each kind of a step") {
  const Program program = small_program();
  const ConstantBits bits(program);
  const auto& first = std::get<Linear>(program.steps[0].operation);
  const auto& last = std::get<Linear>(program.steps.back().operation);
  const std::int64_t entries = 64 * program.value(program.steps[1].output).type.width;
  CHECK(bits.count() ==
        6 * (30 + 21) + 5 * codes_width(first.bias) + 3 * codes_width(last.bias) + entries + 2 * 8);
  Random random(1);
  std::map<std::pair<std::size_t, ConstantKind>, int> evenly;
  for (int i = 0; i < 1000; ++i) {
    const ConstantBit bit = bits.draw_evenly(random);
    ++evenly[{bit.step, bit.kind}];
  }
  CHECK(evenly.size() == 6);
  for (const auto& [kind, count] : evenly) CHECK(count > 115);
}

TEST_CASE("a flipped weight gives the bounds that follow from it") {
  Program program = small_program();
  const ConstantBit bit{0, ConstantKind::factor, 7, 5};  // the sign of weight [1][1]
  const Step faulty = flipped(program, bit);
  const auto& linear = std::get<Linear>(faulty.operation);
  const FixedType& type = program.value(program.inputs[0]).type;
  Wide low = 0, high = 0;  // the least and the greatest sums of all rows, term by term
  for (std::size_t row = 0; row < 5; ++row) {
    Wide least = std::min<Wide>(linear.bias[row], 0), most = std::max<Wide>(linear.bias[row], 0);
    for (std::size_t i = 0; i < 6; ++i) {
      const Wide weight = linear.weight[6 * row + i];
      least += weight * (weight > 0 ? type.low() : type.high());
      most += weight * (weight > 0 ? type.high() : type.low());
    }
    low = std::min(low, least);
    high = std::max(high, most);
  }
  CHECK((faulty.low == low && faulty.high == high));
  CHECK((program.steps[0].low != low || program.steps[0].high != high));
  program.contents = Contents::reloadable;  // bounds are those of all weights that may come
  const Step replaceable = flipped(program, bit);
  CHECK((replaceable.low == program.steps[0].low && replaceable.high == program.steps[0].high));
}

TEST_CASE("bits of distances of channels are drawn, flipped and shown") {
  Sketch sketch;
  const auto x = sketch.input({2, 6}, {{"data_out", "integer(8, 4)"}});
  const Program program = lower(sketch.finish(
      sketch.linear(x, 3,
                    {{"weight", "integer(6, 4, granularity=channel, channel_frac_width=[4, 7, 5])"},
                     {"bias", "integer(8, 5)"},
                     {"data_out", "integer(8, 3)"}})));
  const ConstantBits bits(program);
  // Distances of 3, 0 and 2: two bits each.
  const auto& linear = std::get<Linear>(program.steps[0].operation);
  CHECK(bits.count() == 18 * linear.weight_type.width + 3 * codes_width(linear.bias) + 3 * 2);
  const ConstantBit bit{1, ConstantKind::factor, 2, 0};
  const Step faulty = flipped(program, bit);
  CHECK(std::get<ChannelShift>(faulty.operation).left == std::vector<int>{3, 0, 3});
  const std::vector<Codes> inputs = random_codes(program, 50);
  const std::vector<Codes> outputs = Interpreter(program).run(inputs, 50);
  CHECK(FaultSimulator(program).shown_by(bit, inputs, outputs, 50) == 0);
}

TEST_CASE("weights in short codes have bits of their codes flipped") {
  Sketch sketch;
  const auto x = sketch.input({2, 6}, {{"data_out", "integer(8, 4)"}});
  const Program program = lower(sketch.finish(sketch.linear(
      x, 3, {{"weight", "fp6_e3m2()"}, {"bias", "integer(8, 5)"}, {"data_out", "integer(8, 3)"}},
      4)));
  const auto& sound = std::get<Linear>(program.steps[0].operation);
  const FloatCode& code = sound.weight_code.value();
  CHECK(code.width <= 6);
  CHECK(ConstantBits(program).count() == 18 * code.width + 3 * codes_width(sound.bias));
  std::int64_t changed = 0;
  for (std::int64_t i = 0; i < 18; ++i)
    for (int bit = 0; bit < code.width; ++bit) {
      const Step faulty = flipped(program, {0, ConstantKind::factor, i, bit});
      const std::int64_t before = sound.weight[at(i)];
      const std::int64_t after = std::get<Linear>(faulty.operation).weight[at(i)];
      if (after == before) continue;  // no weight has that code
      ++changed;
      const std::int64_t mask = bit < code.width - 1 ? 1 << bit : -(1 << bit);
      CHECK(after == code.number(*code.code(before) ^ mask));
    }
  CHECK(changed >= 18 * (code.width - 1));
}
