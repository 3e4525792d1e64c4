// SPDX-License-Identifier: Apache-2.0
// Charts by hand-computed positions.
#include "report/chart.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "support/infinity.hpp"

namespace mase::report {
namespace {

using mase::test::infinity;

bool has(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("axes end on round ticks around the values") {
  const std::vector<double> accuracies{0.713, 0.771};
  const Axis axis = axis_over("accuracy", accuracies);
  CHECK(axis.low == Approx(0.70));
  CHECK(axis.high == Approx(0.78));
  REQUIRE(axis.ticks().size() == 5);
  CHECK(axis.tick_text(axis.ticks()[1]) == "0.72");
  const std::vector<double> trials{0, 3};
  CHECK(axis_over("trial", trials, true).step == 1);
  const std::vector<double> costs{12000, 180000};
  CHECK(axis_over("lut", costs).tick_text(150000) == "150000");
  CHECK(axis_over("bitops", std::vector<double>{0, 5e9}).tick_text(1e9) == "1e+09");
}

TEST_CASE("an axis exists for any values") {
  for (const std::vector<double>& values :
       std::vector<std::vector<double>>{{},
                                        {0},
                                        {5},
                                        {-3, -3},
                                        {1e308, -1e308},
                                        {5e-324},
                                        {1, 1 + 1e-15},
                                        {infinity, 2},
                                        {std::nan(""), -infinity},
                                        {1e16, 1e16 + 2}}) {
    const Axis axis = axis_over("x", values);
    CHECK(axis.low < axis.high);
    CHECK(std::isfinite(axis.high - axis.low));
    CHECK(axis.ticks().size() >= 2);
    CHECK(axis.ticks().size() <= 12);
  }
}

TEST_CASE("a chart puts the corners of its range at the corners of the plot") {
  // 640 x 300 with 72, 16, 10 and 46 to the left, right, top and bottom of the plot.
  const Axis unit{"", 0, 1, 0.5};
  const std::vector<Mark> corners{{0, 0, "low"}, {1, 1, "high"}};
  Chart chart("test", unit, unit);
  chart.dots("feasible", corners);
  chart.steps("best", corners);
  chart.steps("best", corners, false);
  chart.line("best", corners);
  const std::vector<double> half{0.5};
  chart.strokes("lost", half);
  const std::string svg = chart.svg();
  CHECK(has(svg, "<circle cx=\"72\" cy=\"254\" r=\"3.5\"><title>low</title></circle>"));
  CHECK(has(svg, "<circle cx=\"624\" cy=\"10\" r=\"3.5\"><title>high</title></circle>"));
  CHECK(has(svg, "d=\"M72 254H624V10\""));
  CHECK(has(svg, "d=\"M72 254V10H624\""));
  CHECK(has(svg, "d=\"M72 254L624 10\""));
  CHECK(has(svg, "d=\"M348 254v-8\""));
}

TEST_CASE("very many dots become one path with each spot once") {
  const Axis unit{"", 0, 1, 0.5};
  const std::vector<Mark> marks(3000, {0, 0, "same"});
  Chart chart("test", unit, unit);
  chart.dots("feasible", marks);
  CHECK(has(chart.svg(), "<path d=\"M72 254h0\"/>"));
}

TEST_CASE("bars are as long as their share of the greatest") {
  const std::vector<Bar> bars{{"a", 0.6}, {"b<", 0.3}, {"c", 0}};
  const std::string svg = bar_chart("test", bars);
  for (const char* part : {"width=\"300\"", "width=\"150\"", "width=\"0\"", "60.0 %", "30.0 %",
                           "<title>b&lt;</title>"})
    CHECK(has(svg, part));
  CHECK(has(bar_chart("none", std::vector<Bar>{{"a", 0}}), "width=\"0\""));
}

TEST_CASE(
    "labels of a heat map have room, and very long ones are cut with the whole in the title") {
  const std::string name = "features_11_conv_0_1", endless(200, 'x');
  HeatMap map{"test", {"a"}, {name, endless}, {{{"1", "", 0.0}}, {{"2", "", 1.0}}}};
  const std::string svg = heat_map(map);
  // 34 letters of 7 units, 8 to the cells, 6 to the left.
  CHECK(has(svg, "x=\"244\""));
  CHECK(has(svg, ">" + name + "</text>"));
  CHECK(has(svg, "<title>" + endless + "</title>"));
  CHECK(has(svg, ">" + std::string(33, 'x') + "…</text>"));
}

TEST_CASE("escaping keeps text and replaces characters that no page may have") {
  CHECK(escaped("a<b & \"c\" 'd' ü") == "a&lt;b &amp; &quot;c&quot; &#39;d&#39; ü");
  CHECK(escaped(std::string("\x00\x1F\x7F\xFF", 4)) == "\uFFFD\uFFFD\uFFFD\uFFFD");
  CHECK(shortened("übermäßig", 9) == "übermäßig");
  CHECK(shortened("übermäßig", 4) == "übe…");
}

}  // namespace mase::report
