// SPDX-License-Identifier: Apache-2.0
// Draws axes side by side, and one path per line.
#include "report/parallel_chart.hpp"

#include <algorithm>
#include <cmath>

#include "report/chart.hpp"
#include "report/svg_text.hpp"

namespace mase::report {
namespace {

constexpr double first_axis = 60, plot_high = 240, least_apart = 74, least_wide = 760;
constexpr std::size_t most_points = 34;

/// The places of the axes. Labels lean by 50 degrees: a letter of 7 units rises by 5.4 and extends
/// to the right by 4.6.
struct AxisLayout {
  double apart, top, wide;

  explicit AxisLayout(std::span<const ParallelAxis> axes) {
    std::size_t longest = 0;
    for (const ParallelAxis& axis : axes)
      longest = std::max(longest, std::min(axis.label.size(), most_points));
    const double gaps = std::max(1.0, static_cast<double>(axes.size()) - 1);
    apart = std::max(least_apart, least_wide / gaps);
    top = 36 + 5.4 * static_cast<double>(longest);
    wide = first_axis + gaps * apart + std::max(60.0, 4.6 * static_cast<double>(longest));
  }
  double x(std::size_t axis) const { return first_axis + apart * static_cast<double>(axis); }
  double y(double place) const { return top + plot_high * (1 - std::clamp(place, 0.0, 1.0)); }
};

std::string axis_text(const ParallelAxis& axis, const AxisLayout& layout, std::size_t index) {
  const double x = layout.x(index);
  return "<g>" + title_of(axis.label) +
         text_at(x, layout.top - 24, "start", shortened(axis.label, most_points),
                 " transform=\"rotate(-50 " + px(x) + " " + px(layout.top - 24) + ")\"") +
         text_at(x, layout.top - 8, "middle", shortened(axis.high, 10)) +
         text_at(x, layout.y(0) + 16, "middle", shortened(axis.low, 10)) + "</g>";
}

std::string path_of(const ParallelLine& line, const AxisLayout& layout) {
  std::string path;
  bool drawn = false;
  for (std::size_t i = 0; i < line.places.size(); ++i) {
    const bool there = line.places[i] && std::isfinite(*line.places[i]);
    if (there) path += (drawn ? "L" : "M") + px(layout.x(i)) + " " + px(layout.y(*line.places[i]));
    drawn = there;
  }
  return path;
}

}  // namespace

std::string parallel_chart(const std::string& name, std::span<const ParallelAxis> axes,
                           std::span<const ParallelLine> lines) {
  const AxisLayout layout(axes);
  std::string grid, labels, out = svg_open(name, layout.wide, layout.y(0) + 28);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    grid += "M" + px(layout.x(i)) + " " + px(layout.y(1)) + "V" + px(layout.y(0));
    labels += axis_text(axes[i], layout, i);
  }
  out += "<path class=\"grid\" d=\"" + grid + "\"/>\n<g class=\"labels\">" + labels +
         "</g>\n<g class=\"lines\">";
  for (const ParallelLine& line : lines)
    if (const std::string path = path_of(line, layout); !path.empty())
      out += "<path class=\"line " + line.css + "\" d=\"" + path + "\">" + title_of(line.title) +
             "</path>\n";
  return out + "</g></svg>\n";
}

}  // namespace mase::report
