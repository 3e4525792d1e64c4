// SPDX-License-Identifier: Apache-2.0
// Loss and accuracy against values computed by hand.
#include "data/metrics.hpp"

#include <cmath>

#include "files.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::message_of;

namespace {

void add(ScoreCounter& counter, const std::vector<float>& outputs,
         const std::vector<std::int64_t>& labels) {
  const auto rows = static_cast<std::int64_t>(labels.size());
  counter.add(Array::from(outputs, {rows, static_cast<std::int64_t>(outputs.size()) / rows}),
              Array::from(labels, {rows}));
}

}  // namespace

TEST_CASE("scores of a hand-made batch") {
  ScoreCounter counter(3);
  // Softmax of (0, ln 2, ln 5) is (1, 2, 5) / 8.
  const float two = std::log(2.0f), five = std::log(5.0f);
  add(counter, {0, two, five, 0, two, five}, {2, 1});
  add(counter, {five, two, 0, 0, 0, 0}, {0, 0});
  const Scores scores = counter.scores();
  CHECK(scores.rows == 4);
  CHECK(scores.correct == 3);
  CHECK(scores.accuracy == 0.75);
  const double expected = (std::log(8.0 / 5) * 2 + std::log(8.0 / 2) + std::log(3.0)) / 4;
  CHECK(scores.loss == Approx(expected).epsilon(1e-7));
  CHECK(scores.macro_accuracy == Approx(2.0 / 3));  // recalls 1, 0, 1
  CHECK(scores.classes[0].predicted == 2);
  CHECK(scores.classes[2].precision() == 0.5);
  CHECK(scores.classes[1].precision() == 0.0);
  CHECK(scores.confusion == Confusion{{{0, 0}, 2}, {{1, 2}, 1}, {{2, 2}, 1}});
}

TEST_CASE("every position of a row counts as a row") {
  ScoreCounter counter(2), flat(2);
  counter.add(Array::from(std::vector<float>{2, 1, 0, 3}, {1, 2, 2}),
              Array::from(std::vector<std::int64_t>{0, 0}, {1, 2}));
  add(flat, {2, 1, 0, 3}, {0, 0});
  CHECK(counter.scores().rows == 2);
  CHECK(counter.scores().correct == 1);
  CHECK(counter.scores().loss == flat.scores().loss);
  CHECK(counter.scores().confusion == flat.scores().confusion);
}

TEST_CASE("the perplexity of equal scores is the number of classes") {
  ScoreCounter counter(5);
  add(counter, {3, 3, 3, 3, 3}, {2});
  CHECK(perplexity(counter.scores().loss) == Approx(5));
}

TEST_CASE("macro accuracy leaves out classes without rows") {
  ScoreCounter counter(3);
  add(counter, {1, 0, 0, 1, 0, 0}, {0, 1});
  CHECK(counter.scores().macro_accuracy == 0.5);
}

TEST_CASE("large outputs do not overflow and nothing gives nothing") {
  ScoreCounter counter(2);
  add(counter, {1e30f, -1e30f}, {0});
  CHECK(counter.scores().loss == 0.0);
  CHECK(ScoreCounter(2).scores().accuracy == 0.0);
}

TEST_CASE("outputs that make no sense are refused") {
  ScoreCounter counter(2);
  add(counter, {1, 2}, {0});
  CHECK_THAT(message_of(Fault::file,
                        [&] {
                          add(counter, {1, std::nanf("")}, {0});
                        }),
             Contains("row 1") && Contains("NaN"));
  CHECK_THAT(message_of(Fault::file, [&] { add(counter, {1}, {0}); }),
             Contains("1 outputs") && Contains("2 classes"));
  CHECK_THAT(message_of(Fault::file,
                        [&] {
                          counter.add(Array(DType::float32, {2, 2, 2}), Array(DType::int64, {2}));
                        }),
             Contains("[2, 2, 2]"));
}

TEST_CASE("the interval of a share is Wilson's") {
  // 5 of 10 and 0 of 10 as printed in tables of the score interval.
  const auto [low, high] = wilson_interval(5, 10);
  CHECK(std::abs(low - 0.2366) < 5e-5);
  CHECK(std::abs(high - 0.7634) < 5e-5);
  CHECK(std::abs(wilson_interval(0, 10).first) < 1e-12);
  CHECK(std::abs(wilson_interval(0, 10).second - 0.2775) < 5e-5);
  CHECK(std::abs(wilson_interval(10, 10).second - 1) < 1e-12);
  CHECK(wilson_interval(0, 0) == std::pair{0.0, 1.0});
}
