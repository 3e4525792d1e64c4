// SPDX-License-Identifier: Apache-2.0
// Masks of attention: whatever puts them in front of a softmax, they take no part in it.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using integer::Codes;
using ir::Value;

namespace {

constexpr float hidden = -std::numeric_limits<float>::infinity();
constexpr float least = std::numeric_limits<float>::lowest();
const std::string scores_format = "integer(8, 4)";
const Formats probabilities{{"data_in", scores_format},
                            {"data_out", "integer(9, 8, is_signed=false)"}};

/// Which elements of four rows of five are masked: none, some, all but one, all.
const std::vector<float> pattern{0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1};
const Shape rows{2, 4, 5};

std::vector<float> masks(float mask, float otherwise = 0) {
  std::vector<float> values;
  for (const float masked : pattern) values.push_back(masked != 0 ? mask : otherwise);
  return values;
}

ir::NodeId softmax(Sketch& sketch, ir::NodeId x, const Formats& formats = probabilities) {
  return sketch.call("aten::softmax.int", {{"self", ref(x)}, {"dim", Value(-1)}}, sketch.shape(x),
                     formats);
}

/// Two frames of scores: all at the least code; from there up.
Array scores() {
  std::vector<float> values(40, -8.0F);
  for (std::size_t i = 20; i < 40; ++i) values[i] = static_cast<float>(i % 7) * 2 - 8;
  return Array::from(values, {2, 4, 5});
}

/// Softmax of factor x + offset on the grid of scores x, of what is not masked; 0 elsewhere.
std::vector<float> expected(const Array& scores, float offset, float factor) {
  std::vector<float> result;
  for (std::size_t row = 0; row < 8; ++row) {
    double sum = 0;
    const auto power = [&](std::size_t i) {
      const float score =
          std::clamp(scores.span<float>()[row * 5 + i] * factor + offset, -8.0F, 7.9375F);
      return pattern[(row * 5 + i) % 20] != 0 ? 0.0 : std::exp(static_cast<double>(score));
    };
    for (std::size_t i = 0; i < 5; ++i) sum += power(i);
    for (std::size_t i = 0; i < 5; ++i)
      result.push_back(sum == 0 ? 0.0F
                                : static_cast<float>(std::nearbyint(power(i) / sum * 256) / 256));
  }
  return result;
}

void check(const ir::Graph& graph, const std::vector<Array>& inputs, float offset = 0,
           float factor = 1) {
  const integer::Program program = integer::lower(graph);
  std::vector<Codes> codes;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    codes.push_back(integer::encode_input(program, i, inputs[i]));
  const Codes results = integer::Interpreter(program).run(codes, 2).at(0);
  const Array found = integer::decode_output(program, 0, results, 2);
  const auto values = found.span<float>();
  CHECK(std::vector<float>(values.begin(), values.end()) == expected(inputs[0], offset, factor));
}

}  // namespace

TEST_CASE("elements that a constant mask hides take no part in softmax") {
  for (const float mask : {hidden, least}) {
    Sketch filled, chosen, added;
    const auto boolean = masks(1);
    const Value number(static_cast<double>(mask));
    auto x = filled.input(rows);
    x = filled.call(
        "aten::masked_fill.Scalar",
        {{"self", ref(x)}, {"mask", ref(filled.constants(boolean, {4, 5}))}, {"value", number}},
        rows);
    check(filled.finish(softmax(filled, x)), {scores()});
    x = chosen.input(rows);
    x = chosen.call("aten::where.ScalarSelf",
                    {{"condition", ref(chosen.constants(boolean, {4, 5}))},
                     {"self", number},
                     {"other", ref(x)}},
                    rows);
    check(chosen.finish(softmax(chosen, x)), {scores()});
    x = added.input(rows, {{"data_out", scores_format}});
    x = added.call("aten::add.Tensor",
                   {{"self", ref(x)}, {"other", ref(added.constants(masks(mask), {4, 5}))}}, rows,
                   {{"data_in", scores_format}});
    check(added.finish(softmax(added, x)), {scores()});
  }
}

TEST_CASE("elements that a computed mask hides take no part in softmax") {
  const auto check_choice = [](const auto& choose) {
    Sketch sketch;
    const auto x = sketch.input(rows);
    const auto keep = sketch.input(rows, {{"data_out", "integer(1, 0, is_signed=false)"}});
    const auto chosen = choose(sketch, x, [&](const std::string& op) {
      return sketch.call(op, {{"self", ref(keep)}, {"other", Value(0)}},
                         ir::ValueInfo::tensor(DType::boolean, rows));
    });
    std::vector<float> kept;
    for (std::size_t i = 0; i < 40; ++i) kept.push_back(1 - pattern[i % 20]);
    check(sketch.finish(softmax(sketch, chosen)), {scores(), Array::from(kept, rows)});
  };
  check_choice([](Sketch& sketch, ir::NodeId x, const auto& compared) {
    return sketch.call("aten::masked_fill.Scalar",
                       {{"self", ref(x)},
                        {"mask", ref(compared("aten::eq.Scalar"))},
                        {"value", Value(static_cast<double>(hidden))}},
                       rows);
  });
  check_choice([](Sketch& sketch, ir::NodeId x, const auto& compared) {
    return sketch.call("aten::where.self",
                       {{"condition", ref(compared("aten::ne.Scalar"))},
                        {"self", ref(x)},
                        {"other", ref(sketch.constants({least}, {1}))}},
                       rows);
  });
}

TEST_CASE("numbers beside masks are added, and clamped to the grid of softmax") {
  Sketch sketch;
  auto x = sketch.input(rows, {{"data_out", scores_format}});
  x = sketch.call("aten::add.Tensor",
                  {{"self", ref(x)}, {"other", ref(sketch.constants(masks(hidden, -3), {4, 5}))}},
                  rows, {{"data_in", scores_format}});
  check(sketch.finish(softmax(sketch, x)), {scores()}, -3);
}

TEST_CASE("a product with the least number masks, and so does an input") {
  for (const bool repeated : {false, true}) {
    Sketch sketch;
    auto x = sketch.input(rows, {{"data_out", scores_format}});
    auto mask = sketch.input(rows, {{"data_out", "integer(1, 0, is_signed=false)"}});
    mask = sketch.call("aten::mul.Scalar",
                       {{"self", ref(mask)}, {"other", Value(static_cast<double>(least))}}, rows);
    x = sketch.call("aten::add.Tensor", {{"self", ref(x)}, {"other", ref(mask)}}, rows,
                    {{"data_in", scores_format}});
    if (repeated)
      x = sketch.call("aten::masked_fill.Scalar",
                      {{"self", ref(x)},
                       {"mask", ref(sketch.constants(masks(1), {4, 5}))},
                       {"value", Value(static_cast<double>(hidden))}},
                      rows);
    std::vector<float> ones = masks(1);
    ones.insert(ones.end(), ones.begin(), ones.end());
    check(sketch.finish(softmax(sketch, x)), {scores(), Array::from(ones, rows)});
  }
  for (const float mask : {hidden, least}) {
    Sketch sketch;
    auto x = sketch.input(rows, {{"data_out", scores_format}});
    const auto given = sketch.input(rows);
    x = sketch.call("aten::add.Tensor", {{"self", ref(x)}, {"other", ref(given)}}, rows,
                    {{"data_in", scores_format}});
    std::vector<float> values = masks(mask, -3);
    values.insert(values.end(), values.begin(), values.end());
    check(sketch.finish(softmax(sketch, x)), {scores(), Array::from(values, rows)}, -3);
  }
}

TEST_CASE("masks pass sums with numbers, factors and bounds on their way to softmax") {
  struct Step {
    std::string op;
    ir::Argument other;
    float offset = 0, factor = 1;
  };
  const std::vector<Step> steps{
      {"aten::add.Scalar", {"other", Value(-3)}, -3},
      {"aten::sub.Scalar", {"other", Value(3)}, -3},
      {"aten::mul.Scalar", {"other", Value(0.5)}, 0, 0.5F},
      {"aten::div.Scalar", {"other", Value(2)}, 0, 0.5F},
      {"aten::clamp_min", {"min", Value(static_cast<double>(least))}},
  };
  for (const Step& step : steps) {
    INFO(step.op);
    Sketch sketch;
    auto x = sketch.input(rows, {{"data_out", scores_format}});
    x = sketch.call("aten::masked_fill.Scalar",
                    {{"self", ref(x)},
                     {"mask", ref(sketch.constants(masks(1), {4, 5}))},
                     {"value", Value(static_cast<double>(hidden))}},
                    rows);
    x = sketch.call(step.op, {{"self", ref(x)}, step.other}, rows, {{"data_in", scores_format}});
    check(sketch.finish(softmax(sketch, x)), {scores()}, step.offset, step.factor);
  }
}

/// A mask for each of two frames, as an input.
Array mask_input() {
  std::vector<float> values = masks(hidden);
  values.insert(values.end(), values.begin(), values.begin() + 20);
  return Array::from(values, rows);
}

/// Two softmaxes of scores and one mask, on grids of their own; the second input is 1 where the
/// mask hides.
void check_two_readers(Sketch& sketch, ir::NodeId x, ir::NodeId mask) {
  std::vector<ir::Value> results;
  for (const std::string format : {"integer(8, 4)", "integer(12, 5)"}) {
    const Formats input{{"data_in", format}};
    const auto sum =
        sketch.call("aten::add.Tensor", {{"self", ref(x)}, {"other", ref(mask)}}, rows, input);
    const auto y = softmax(sketch, sum, {input[0], probabilities[1]});
    results.push_back(ref(y));
  }
  const integer::Program program = integer::lower(sketch.finish(Value::tuple(results)));
  std::vector<float> ones = masks(1);
  ones.insert(ones.end(), ones.begin(), ones.end());
  const std::vector<Codes> codes{integer::encode_input(program, 0, scores()),
                                 integer::encode_input(program, 1, Array::from(ones, rows))};
  const std::vector<Codes> found = integer::Interpreter(program).run(codes, 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const Array shares = integer::decode_output(program, i, found[i], 2);
    CHECK(std::ranges::equal(shares.span<float>(), expected(scores(), 0, 1)));
  }
}

TEST_CASE("masks that readers with grids of their own share are masks to each") {
  Sketch sketch;
  const auto x = sketch.input(rows, {{"data_out", scores_format}});
  auto mask = sketch.input(rows, {{"data_out", "integer(8, 6)"}});
  mask = sketch.call("aten::mul.Scalar",
                     {{"self", ref(mask)}, {"other", Value(static_cast<double>(least))}}, rows);
  check_two_readers(sketch, x, mask);
}

TEST_CASE("a product that is added to masks has them") {
  Sketch sketch;
  const auto x = sketch.input(rows, {{"data_out", scores_format}});
  const auto mask = sketch.input(rows, {{"data_out", scores_format}});
  const auto one = sketch.input({2, 5, 5}, {{"data_out", "integer(2, 0)"}});
  const auto y =
      sketch.call("aten::baddbmm", {{"self", ref(mask)}, {"batch1", ref(x)}, {"batch2", ref(one)}},
                  rows, {{"bias", scores_format}});
  std::vector<float> identity(50, 0);
  for (std::size_t i = 0; i < 5; ++i) identity[i * 6] = identity[25 + i * 6] = 1;
  check(sketch.finish(softmax(sketch, y)),
        {scores(), mask_input(), Array::from(identity, {2, 5, 5})});
}

TEST_CASE("zeros that a computed mask fills are masks, as torch.nn makes them") {
  Sketch sketch;
  const auto x = sketch.input(rows, {{"data_out", scores_format}});
  const auto pad = sketch.input(rows, {{"data_out", "integer(1, 0, is_signed=false)"}});
  const auto boolean = ir::ValueInfo::tensor(DType::boolean, rows);
  const auto hides =
      sketch.call("aten::gt.Scalar", {{"self", ref(pad)}, {"other", Value(0)}}, boolean);
  const auto zeros = sketch.call("aten::zeros_like", {{"self", ref(hides)}}, rows);
  const auto mask = sketch.call(
      "aten::masked_fill.Scalar",
      {{"self", ref(zeros)}, {"mask", ref(hides)}, {"value", Value(static_cast<double>(hidden))}},
      rows);
  check_two_readers(sketch, x, mask);
}

TEST_CASE("masks from which scores are subtracted stay masks") {
  Sketch sketch;
  const auto x = sketch.input(rows, {{"data_out", scores_format}});
  const auto mask = sketch.input(rows, {{"data_out", scores_format}});
  const auto y = sketch.call("aten::sub.Tensor", {{"self", ref(mask)}, {"other", ref(x)}}, rows,
                             {{"data_in", scores_format}});
  check(sketch.finish(softmax(sketch, y)), {scores(), mask_input()}, 0, -1);
}

TEST_CASE(
    "what else reads masked scores gets the least number of its format, as softmax then does") {
  Sketch sketch;
  auto x = sketch.input(rows, {{"data_out", scores_format}});
  x = sketch.call("aten::masked_fill.Scalar",
                  {{"self", ref(x)},
                   {"mask", ref(sketch.constants(masks(1), {4, 5}))},
                   {"value", Value(static_cast<double>(hidden))}},
                  rows, {{"data_out", scores_format}});
  const auto y = softmax(sketch, x);
  const auto program = integer::lower(sketch.finish(Value::tuple({ref(y), ref(x)})));
  CHECK(program.value(program.outputs[1]).type == integer::FixedType{8, 4, true});
}

TEST_CASE("scores of up to 16 bits have masks, too, also on fine grids") {
  for (const std::string format :
       {"integer(12, 8)", "integer(12, 10)", "integer(16, 11)", "integer(6, -1)",
        "integer(7, 5, is_signed=false)", "integer(8, 12)", "integer(8, 13)", "integer(8, 30)"}) {
    Sketch sketch;
    auto x = sketch.input({2, 4});
    x = sketch.call("aten::masked_fill.Scalar",
                    {{"self", ref(x)},
                     {"mask", ref(sketch.constants({0, 1, 0, 1}, {4}))},
                     {"value", Value(static_cast<double>(hidden))}},
                    {2, 4});
    const auto y = softmax(sketch, x, {{"data_in", format}, {"data_out", "integer(16, 15)"}});
    const auto program = integer::lower(sketch.finish(y));
    const auto low = static_cast<std::int64_t>(program.value(program.inputs[0]).type.low());
    const Codes results = integer::Interpreter(program).run({{low, 9, low, 9}}, 1).at(0);
    CHECK(results == Codes{1 << 14, 0, 1 << 14, 0});
  }
}
