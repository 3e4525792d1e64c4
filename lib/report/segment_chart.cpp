// SPDX-License-Identifier: Apache-2.0
// Draws rows of rectangles on a common scale.
#include "report/segment_chart.hpp"

#include <algorithm>

#include "report/svg_text.hpp"

namespace mase::report {
namespace {

constexpr double row_height = 20, top_edge = 4, plot_left = 250, plot_width = 560, below = 44;

double place(const Axis& axis, double value) {
  return plot_left + (value - axis.low) / (axis.high - axis.low) * plot_width;
}

/// True when a segment lies inside the axis; false for NaN, too.
bool is_inside(const Axis& axis, const Segment& segment) {
  const double slack = 1e-9 * (axis.high - axis.low);
  return axis.low - slack <= segment.from && segment.from <= segment.to &&
         segment.to <= axis.high + slack;
}

std::string rectangle(const Axis& axis, const Segment& segment, double y) {
  const double x = place(axis, segment.from);
  return "<rect class=\"" + segment.css + "\" x=\"" + px(x) + "\" y=\"" + px(y + 3) +
         "\" width=\"" + px(std::max(place(axis, segment.to) - x, 1.0)) + "\" height=\"" +
         px(row_height - 6) + "\">" + title_of(segment.title) + "</rect>";
}

std::string scale(const Axis& axis, double bottom) {
  std::string grid, labels;
  for (const double tick : axis.ticks()) {
    grid += "M" + px(place(axis, tick)) + " " + px(top_edge) + "V" + px(bottom);
    labels += text_at(place(axis, tick), bottom + 16, "middle", axis.tick_text(tick));
  }
  labels += text_at(plot_left + plot_width / 2, bottom + 36, "middle", axis.label);
  return "<path class=\"grid\" d=\"" + grid + "\"/>\n<g class=\"labels\">" + labels + "</g>\n";
}

}  // namespace

std::string segment_chart(const std::string& name, const Axis& axis,
                          std::span<const SegmentRow> rows) {
  constexpr std::size_t most_points = 34;
  const double bottom = top_edge + row_height * static_cast<double>(rows.size());
  std::string out =
      svg_open(name, plot_left + plot_width + 30, bottom + below) + scale(axis, bottom);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = top_edge + row_height * static_cast<double>(i);
    out += "<g class=\"labels\">" + title_of(rows[i].label) +
           text_at(plot_left - 8, y + 14, "end", shortened(rows[i].label, most_points)) +
           "</g><g class=\"rows\">";
    for (const Segment& segment : rows[i].segments)
      if (is_inside(axis, segment)) out += rectangle(axis, segment, y);
    out += "</g>\n";
  }
  return out + "</svg>\n";
}

}  // namespace mase::report
