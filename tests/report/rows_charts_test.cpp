// SPDX-License-Identifier: Apache-2.0
// Segments and parallel coordinates by hand-computed positions.
#include <catch2/catch.hpp>
#include <cmath>

#include "report/parallel_chart.hpp"
#include "report/segment_chart.hpp"

namespace mase::report {

TEST_CASE("segments lie where the axis has their ends, and only inside of it") {
  // The plot is 560 wide and begins at 250; a row is 20 high, its rectangle 14, from 3 down.
  const Axis unit{"s", 0, 1, 0.5};
  const std::vector<SegmentRow> rows{
      {"a<", {{0, 1, "whole", ""}, {0.25, 0.5, "best", "mine"}, {0.5, 0.5, "best", "short"}}},
      {"b", {{0.5, 2, "best", "beyond"}, {NAN, 1, "best", "nan"}, {0.75, 0.5, "best", "back"}}}};
  const std::string svg = segment_chart("test", unit, rows);
  const auto holds = [&](const std::string& what) { return svg.find(what) != std::string::npos; };
  CHECK(holds("<rect class=\"whole\" x=\"250\" y=\"7\" width=\"560\" height=\"14\"></rect>"));
  CHECK(holds("<rect class=\"best\" x=\"390\" y=\"7\" width=\"140\" height=\"14\"><title>mine"));
  CHECK(holds("<rect class=\"best\" x=\"530\" y=\"7\" width=\"1\" height=\"14\"><title>short"));
  for (const char* title : {"beyond", "nan", "back"}) CHECK_FALSE(holds(title));
  CHECK(holds(">a&lt;</text>"));
}

TEST_CASE("parallel lines run from axis to axis and break where a point has no place") {
  // Axes at 60, 440 and 820; labels of one letter: the plot from 41.4 down to 281.4.
  const std::vector<ParallelAxis> axes{{"a", "0", "1"}, {"b", "0", "1"}, {"c", "low", "high"}};
  const std::vector<ParallelLine> lines{{{0.0, 1.0, 0.5}, "best", "all"},
                                        {{1.0, std::nullopt, 0.0}, "feasible", "broken"},
                                        {{NAN, std::nullopt, std::nullopt}, "feasible", "none"}};
  const std::string svg = parallel_chart("test", axes, lines);
  const auto holds = [&](const std::string& what) { return svg.find(what) != std::string::npos; };
  CHECK(holds("<path class=\"line best\" d=\"M60 281.4L440 41.4L820 161.4\"><title>all</title>"));
  CHECK(holds("<path class=\"line feasible\" d=\"M60 41.4M820 281.4\"><title>broken</title>"));
  CHECK_FALSE(holds("none"));
  CHECK(holds(">high</text>"));
}

}  // namespace mase::report
