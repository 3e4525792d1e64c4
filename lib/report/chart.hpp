// SPDX-License-Identifier: Apache-2.0
// Small charts as inline SVG. Colours are CSS classes, which the page defines for light and dark;
// all text is escaped here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mase::report {

/// Text for the content and the quoted attributes of HTML and XML. Control characters and
/// ill-formed UTF-8 become U+FFFD.
std::string escaped(std::string_view text);
/// At most `count` code points of a text; the last one is "…" when the text was cut.
std::string shortened(std::string_view text, std::size_t count);

/// A linear axis from tick to tick; ticks are whole multiples of 1, 2 or 5 times a power of ten.
struct Axis {
  std::string label;
  double low = 0, high = 1, step = 0.2;

  std::vector<double> ticks() const;
  std::string tick_text(double tick) const;
};
/// An axis over all finite values; 0 to 1 when there are none. With `whole`, ticks are integers.
Axis axis_over(std::string label, std::span<const double> values, bool whole = false);

/// A point of a chart, and the text shown when the pointer rests on it.
struct Mark {
  double x = 0, y = 0;
  std::string title;
};

/// One plot with two axes; later drawing covers earlier. Marks that are not finite are left out.
class Chart {
 public:
  /// `name` describes the chart to readers who cannot see it.
  Chart(std::string name, Axis x, Axis y);

  /// Dots with their titles. More than 2000 dots have no titles, and those on one spot become one.
  void dots(std::string_view css, std::span<const Mark> marks);
  /// A line through the marks in order, along x first or along y first.
  void steps(std::string_view css, std::span<const Mark> marks, bool x_first = true);
  /// A line through the marks in order.
  void line(std::string_view css, std::span<const Mark> marks);
  /// Short strokes on the x axis.
  void strokes(std::string_view css, std::span<const double> places);

  std::string svg() const;

 private:
  bool holds(const Mark& mark) const;
  std::string px_x(double x) const;
  std::string px_y(double y) const;
  std::string frame() const;

  std::string name_;
  Axis x_, y_;
  std::string body_;
};

/// One bar of a chart.
struct Bar {
  std::string label;
  double value = 0;  ///< 0 to 1
};
/// Horizontal bars from top to bottom, each with its value as a percentage; the greatest value has
/// the full length.
std::string bar_chart(const std::string& name, std::span<const Bar> bars);

/// One cell of a heat map.
struct HeatCell {
  std::string text, title;
  std::optional<double> shade;  ///< 0 (light) to 1; nullopt: no cell
};
/// A table of shaded cells.
struct HeatMap {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::string> rows;             ///< labels
  std::vector<std::vector<HeatCell>> cells;  ///< by row
};
std::string heat_map(const HeatMap& map);

}  // namespace mase::report
