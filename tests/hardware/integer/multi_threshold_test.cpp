// SPDX-License-Identifier: Apache-2.0
// Counts of thresholds: results as their definition gives them, and the step that each becomes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.hpp"
#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"
#include "support/message_of.hpp"

using namespace mase;
using namespace mase::test;
using ir::Value;

namespace {

/// A graph that counts thresholds in codes of `bits` bits with two fraction bits.
ir::Graph counted(const Shape& shape, const Array& thresholds, int bits, double scale, double bias,
                  const Formats& formats = {}) {
  Sketch sketch;
  const auto x = sketch.input(shape, {{"data_out", "integer(" + std::to_string(bits) + ", 2)"}});
  const auto values = thresholds.span<float>();
  const auto t = sketch.constants({values.begin(), values.end()}, thresholds.shape());
  return sketch.finish(sketch.call("mase::multi_threshold",
                                   {{"self", ref(x)},
                                    {"thresholds", ref(t)},
                                    {"out_scale", Value(scale)},
                                    {"out_bias", Value(bias)}},
                                   shape, formats));
}

/// Eighths in no order: some lie between two codes, and some beyond all of them.
Array some_thresholds(const Shape& shape, int bits, std::uint64_t seed) {
  Random random(seed);
  Array thresholds(DType::float32, shape);
  const std::int64_t most = std::int64_t{1} << (bits + 1);
  for (float& one : thresholds.mutable_span<float>())
    one = static_cast<float>(static_cast<std::int64_t>(random.below(2 * most)) - most) / 8;
  return thresholds;
}

/// out_scale * (thresholds that are at most x) + out_bias, where thresholds broadcast.
std::vector<float> counts(const Array& x, const Array& thresholds, double scale, double bias) {
  std::vector<float> results;
  const auto count = static_cast<std::size_t>(thresholds.shape().back());
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::size_t row = 0, stride = 1, element = i;
    for (std::size_t d = x.shape().size(), t = thresholds.shape().size() - 1; d-- > 0 && t-- > 0;) {
      const auto size = static_cast<std::size_t>(x.shape()[d]);
      if (thresholds.shape()[t] != 1) {
        row += element % size * stride;
        stride *= size;
      }
      element /= size;
    }
    int reached = 0;
    for (std::size_t n = 0; n < count; ++n)
      reached += x.span<float>()[i] >= thresholds.span<float>()[row * count + n] ? 1 : 0;
    results.push_back(static_cast<float>(reached * scale + bias));
  }
  return results;
}

}  // namespace

TEST_CASE("thresholds are counted along every dimension, and for all elements alike") {
  struct Row {
    Shape shape, thresholds;
    int bits;
    std::string step;
  };
  for (const Row& row : {Row{{40, 5}, {5, 3}, 8, "quantize"},
                         {{40, 3, 4, 4}, {3, 1, 1, 7}, 6, "quantize"},
                         {{40, 4, 4, 3}, {3, 15}, 10, "quantize"},
                         {{40, 4, 3}, {4, 1, 1}, 5, "quantize"},
                         {{40, 4, 3}, {4, 3, 2}, 5, "quantize"},
                         {{40, 4, 3}, {7}, 6, "lookup"},
                         {{40, 4, 3}, {1, 1, 255}, 16, "quantize"}}) {
    INFO(shape_text(row.thresholds) << " in " << shape_text(row.shape));
    for (const auto& [scale, bias] :
         {std::pair{1.0, 0.0}, {0.25, -1.0}, {2.0, -1.0}, {-1.0, 0.5}}) {
      const Array thresholds = some_thresholds(row.thresholds, row.bits, 5);
      const ir::Graph graph = counted(row.shape, thresholds, row.bits, scale, bias);
      const integer::Program program = integer::lower(graph);
      REQUIRE(program.steps.size() == 1);
      CHECK(integer::step_kind(program.steps[0].operation) == row.step);
      Array x = some_thresholds(row.shape, row.bits, 6);
      const float least = -std::ldexp(1.0F, row.bits - 3);
      for (float& one : x.mutable_span<float>())
        one = std::clamp(std::nearbyint(one * 4) / 4, least, -least - 0.25F);
      const Array results = integer::make_evaluator(graph)->run({x}).front().second;
      const auto found = results.span<float>();
      CHECK(std::vector<float>(found.begin(), found.end()) == counts(x, thresholds, scale, bias));
    }
  }
}

TEST_CASE("counts are rounded to a format that is asked for") {
  const Array thresholds = Array::from(std::vector<float>{-1, 0.125F, 3}, {3});
  const ir::Graph graph =
      counted({4, 1}, thresholds, 6, 0.75, 0, {{"data_out", "integer(3, 1, is_signed=false)"}});
  const Array x = Array::from(std::vector<float>{-2, 0, 0.25F, 3}, {4, 1});
  const Array results = integer::make_evaluator(graph)->run({x}).front().second;
  // 0, 0.75, 1.5 and 2.25: halves, ties to even.
  CHECK(results.span<float>()[0] == 0);
  CHECK(results.span<float>()[1] == 1);
  CHECK(results.span<float>()[2] == 1.5F);
  CHECK(results.span<float>()[3] == 2);
}

TEST_CASE("thresholds that no datapath has are refused") {
  const auto refusal = [](const Array& thresholds, int bits) {
    return message_of(Fault::unsupported, [&] {
      integer::lower(counted({2, 1024}, thresholds, bits, 1, 0));
    });
  };
  const auto nan = Array::from(std::vector<float>{0, std::nanf("")}, {2});
  CHECK(refusal(nan, 8).find("one of its thresholds is NaN") != std::string::npos);
  CHECK(refusal(some_thresholds({1024, 15}, 20, 1), 20).find("322560 bits, more than 131072") !=
        std::string::npos);
}
