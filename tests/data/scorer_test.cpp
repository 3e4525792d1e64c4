// SPDX-License-Identifier: Apache-2.0
// The figures of each task, against values computed by hand, and which output a target is for.
#include "data/scorer.hpp"

#include <cmath>

#include "files.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::message_of;

namespace {

Array number_array(std::vector<float> values, Shape shape) { return Array::from(values, shape); }
Array index_array(std::vector<std::int64_t> values, Shape shape) {
  return Array::from(values, shape);
}

Figures measured(Target target, const Array& outputs, const Array& targets) {
  Scorers scorers({std::move(target)});
  // In two batches, as figures of a part are collected.
  const std::int64_t rows = targets.shape()[0], half = rows / 2;
  scorers.add(half, {outputs.rows(0, half)}, {targets.rows(0, half)});
  scorers.add(rows - half, {outputs.rows(half, rows - half)}, {targets.rows(half, rows - half)});
  return scorers.figures();
}

double figure_of(const Figures& figures, const std::string& name) {
  return figures.find(name)->value;
}

}  // namespace

TEST_CASE("regression: errors and the explained share of the variance") {
  // Errors 1, 0, -2, 1: squares 6 of 4 elements. Columns 1, 3 and 2, 6 about their means 2 and 4:
  // squares 2 + 8.
  const Figures figures = measured({"y", "regression", {}}, number_array({2, 2, 1, 7}, {2, 2}),
                                   number_array({1, 2, 3, 6}, {2, 2}));
  CHECK(figures.rows == 2);
  CHECK(figures.loss == Approx(1.5));
  CHECK(figure_of(figures, "mse") == Approx(1.5));
  CHECK(figure_of(figures, "rmse") == Approx(std::sqrt(1.5)));
  CHECK(figure_of(figures, "mae") == Approx(1.0));
  CHECK(figure_of(figures, "worst") == 2.0);
  CHECK(figure_of(figures, "r2") == Approx(1 - 6.0 / 10));
}

TEST_CASE("regression: the loss is the one that is chosen, and [rows, 1] meets [rows]") {
  Target target{"y", "regression", {}, {}, "l1"};
  CHECK(measured(target, number_array({3, 5}, {2, 1}), number_array({1, 4}, {2})).loss ==
        Approx(1.5));
  CHECK_THAT(
      message_of(
          Fault::file,
          [&] {
            measured(target, number_array({3, 5}, {2, 1}), number_array({1, 4, 2, 2}, {2, 2}));
          }),
      Contains("the model's output for 'y' is float32[1, 1]") && Contains("[1, 2]"));
}

TEST_CASE("multi_label: labels are predicted above 0") {
  // Rows: all right; one missed and one invented. Found 2, absent 2, missed 1, invented 1.
  const Figures figures =
      measured({"y", "multi_label", {}}, number_array({1, -1, 2, -1, 3, -2}, {2, 3}),
               number_array({1, 0, 1, 1, 0, 0}, {2, 3}));
  CHECK(figure_of(figures, "accuracy") == Approx(4.0 / 6));
  CHECK(figure_of(figures, "exact") == Approx(0.5));
  CHECK(figure_of(figures, "precision") == Approx(2.0 / 3));
  CHECK(figure_of(figures, "recall") == Approx(2.0 / 3));
  CHECK(figure_of(figures, "f1") == Approx(2.0 / 3));
}

TEST_CASE("segmentation: classes are the second dimension, unions count what is missed") {
  // Two rows of two pixels, two classes. Predicted 0 1 / 1 1, wanted 0 0 / 1 1:
  // class 0 meets in 1 of 2 pixels, class 1 in 2 of 3.
  const Array outputs = number_array({1, 0, 0, 1, 0, 0, 1, 1}, {2, 2, 1, 2});
  const Figures figures = measured({"y", "segmentation", {}, {"a", "b"}}, outputs,
                                   index_array({0, 0, 1, 1}, {2, 1, 2}));
  CHECK(figure_of(figures, "accuracy") == Approx(0.75));
  CHECK(figure_of(figures, "miou") == Approx((1.0 / 2 + 2.0 / 3) / 2));
  CHECK(figures.loss ==
        Approx((3 * std::log(1 + std::exp(-1.0)) + std::log(1 + std::exp(1.0))) / 4));
}

TEST_CASE("distillation: the student agrees where its largest output is the teacher's") {
  const Figures figures = measured({"y", "distillation", {}}, number_array({2, 1, 0, 1}, {2, 2}),
                                   number_array({1, 0, 3, 1}, {2, 2}));
  CHECK(figure_of(figures, "agreement") == Approx(0.5));
  CHECK(figure_of(figures, "difference") == Approx(std::sqrt((1 + 1 + 9 + 0) / 4.0)));
}

TEST_CASE("figures of several targets begin with their output, and losses have weights") {
  Target boxes{"y_boxes", "regression", {}}, classes{"y_classes", "classification", {}, {"a", "b"}};
  boxes.weight = 0.5;
  Scorers scorers({boxes, classes});
  scorers.add(1, {number_array({3}, {1}), number_array({0, 0}, {1, 2})},
              {number_array({1}, {1}), index_array({1}, {1})});
  const Figures figures = scorers.figures();
  CHECK(figures.loss == Approx(0.5 * 4 + std::log(2.0)));
  CHECK(figure_of(figures, "boxes.mae") == 2.0);
  CHECK(figure_of(figures, "classes.accuracy") == 0.0);
}

TEST_CASE("a target finds its output by place or by name") {
  const auto place = [](const char* name, std::vector<std::string> results) {
    return output_of({name, "", {}}, results);
  };
  CHECK(place("y", {""}) == 0);
  CHECK(place("y_0", {""}) == 0);
  CHECK(place("y_1", {"0", "1"}) == 1);
  CHECK(place("y_boxes", {"classes", "boxes"}) == 1);
  CHECK_THAT(message_of(Fault::config,
                        [&] {
                          place("y_bokses", {"classes", "boxes"});
                        }),
             Contains("did you mean 'y_boxes'"));
  CHECK_THAT(message_of(Fault::config, [&] { place("y_1", {""}); }), Contains("called y"));
  CHECK_THAT(message_of(Fault::config,
                        [&] {
                          place("y", {"classes", "boxes"});
                        }),
             Contains("returns 2 results (classes, boxes)") && Contains("[outputs.classes]"));
}

TEST_CASE("an output that is not finite is named by its row") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK_THAT(message_of(Fault::file,
                        [&] {
                          measured({"y", "regression", {}}, number_array({1, 1, 1, infinity}, {4}),
                                   number_array({1, 1, 1, 1}, {4}));
                        }),
             Contains("row 3 is NaN or infinite"));
}

TEST_CASE("segmentation: places of the ignored class count nowhere") {
  const Target target{"y", "segmentation", {}, {"a", "b"}};
  // Two rows of 1 x 2 pixels: classes 0, ignored, 1, 0. Three are predicted 0, 1, 1 as told below.
  const Array outputs = number_array({5, 0, 0, 5, 0, 0, 5, 5}, {2, 2, 1, 2});
  const Figures all = measured(target, outputs, index_array({0, ignored_label, 1, 0}, {2, 1, 2}));
  // Pixel 0 is right, pixel 2 is right, pixel 3 is taken for b.
  CHECK(figure_of(all, "accuracy") == Approx(2.0 / 3));
  CHECK(figure_of(all, "miou") == Approx((1.0 / 2 + 1.0 / 2) / 2));
  // log(1 + e^-5) twice, and 5 more once.
  CHECK(all.loss == Approx(std::log(1 + std::exp(-5.0)) + 5.0 / 3));
}
