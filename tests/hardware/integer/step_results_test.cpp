// SPDX-License-Identifier: Apache-2.0
// Softmax and norms of scaled codes whose readers divide by steps that are no powers of two: next
// to the real numbers, which the test computes in float64.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using ir::Value;

namespace {

constexpr std::int64_t row_length = 12;
constexpr double input_scale = 0.037F, norm_eps = 1e-3;

/// The row op between x times the scale and a division by `step`, rounded to 9 bits.
Array codes_in_steps(const std::string& op, std::vector<ir::Argument> arguments, double step,
                     const Array& batch) {
  Sketch sketch;
  const Shape shape{2, row_length};
  const auto x = sketch.input(shape, {{"data_out", "integer(8, 0)"}});
  const auto scaled =
      sketch.call("aten::mul.Scalar", {{"self", ref(x)}, {"other", Value(input_scale)}}, shape);
  arguments.insert(arguments.begin(), {op == "aten::softmax.int" ? "self" : "input", ref(scaled)});
  const auto y = sketch.call(op, std::move(arguments), shape);
  const auto z = sketch.call("aten::div.Scalar", {{"self", ref(y)}, {"other", Value(step)}}, shape);
  const auto graph = sketch.finish(sketch.relu(z, {{"data_in", "integer(9, 0)"}}));
  return integer::make_evaluator(graph)->run({batch})[0].second;
}

/// Compares codes with real rows over the step; an op is within `most` of a step beyond rounding.
template <class Row>
void check_near(const Array& codes, const Array& batch, double step, double most, Row&& row) {
  for (std::int64_t first = 0; first < batch.size(); first += row_length) {
    std::vector<double> numbers;
    for (std::int64_t i = first; i < first + row_length; ++i)
      numbers.push_back(input_scale *
                        static_cast<double>(batch.span<float>()[static_cast<std::size_t>(i)]));
    row(numbers);
    for (std::int64_t i = 0; i < row_length; ++i) {
      const double wanted = std::clamp(numbers[static_cast<std::size_t>(i)] / step, 0.0, 255.0);
      const auto code = codes.span<float>()[static_cast<std::size_t>(first + i)];
      CHECK(std::abs(static_cast<double>(code) - wanted) <= 0.5 + most);
    }
  }
}

Array whole_batch() {
  Array batch = random_batch({100, row_length}, 120, 5);
  for (float& one : batch.mutable_span<float>()) one = std::nearbyint(one);
  return batch;
}

void real_softmax(std::vector<double>& row) {
  for (double& one : row) one = std::exp(one);
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  for (double& one : row) one /= sum;
}

void real_norm(std::vector<double>& row) {
  const double n = static_cast<double>(row.size());
  const double mean = std::accumulate(row.begin(), row.end(), 0.0) / n;
  double variance = 0;
  for (const double one : row) variance += (one - mean) * (one - mean) / n;
  for (double& one : row) one = (one - mean) / std::sqrt(variance + norm_eps);
}

}  // namespace

TEST_CASE("softmax is next to the real one in steps that are no powers of two") {
  const Array batch = whole_batch();
  // Exponentials of at most 1 are off by 2^-15, so that a result is by 1e-4 at most.
  for (const double step : {1 / 255.0, 0.0031, 0.013})
    check_near(
        codes_in_steps("aten::softmax.int", {{"dim", Value(-1)}}, static_cast<float>(step), batch),
        batch, static_cast<float>(step), 0.03, real_softmax);
}

TEST_CASE("a layer norm of scaled codes has the eps of the numbers") {
  const Array batch = whole_batch();
  // Two places of the finer result, which are 1/256 of a step each or less.
  for (const double step : {0.011, 0.05})
    check_near(codes_in_steps("aten::layer_norm",
                              {{"normalized_shape", list({row_length})}, {"eps", Value(norm_eps)}},
                              static_cast<float>(step), batch),
               batch, static_cast<float>(step), 0.01, real_norm);
  Array flat = batch;  // rows of small variance, in which eps counts
  for (float& one : flat.mutable_span<float>()) one = std::nearbyint(one / 100);
  check_near(codes_in_steps("aten::layer_norm",
                            {{"normalized_shape", list({row_length})}, {"eps", Value(norm_eps)}},
                            0.05F, flat),
             flat, 0.05F, 0.01, real_norm);
}
