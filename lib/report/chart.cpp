// SPDX-License-Identifier: Apache-2.0
// Axes with round ticks, plots, bars and heat maps as SVG text.
#include "report/chart.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "report/svg_text.hpp"

namespace mase::report {
namespace {

constexpr double width = 640, height = 300, left = 72, right = 16, top = 10, bottom = 46;
constexpr std::size_t most_titles = 2000;
/// Values beyond these would overflow, or vanish, in the arithmetic of ticks.
constexpr double largest = 1e200, smallest = 1e-200;

/// The smallest of 1, 2 and 5 times a power of ten that is not below `least`.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const char c = text[at];
    const bool control = length == 1 && ((c < ' ' && c != '\t' && c != '\n') || c == 0x7f);
    if (length == 0 || control)
      out += "\xEF\xBF\xBD";
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else
      out += text.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t count) {
  std::size_t at = 0, end = 0;
  for (std::size_t points = 0; at < text.size(); ++points) {
    if (points + 1 == count) end = at;
    if (points == count) return std::string(text.substr(0, end)) + "…";
    at += std::max<std::size_t>(1, utf8_length(text, at));
  }
  return std::string(text);
}

std::vector<double> Axis::ticks() const {
  std::vector<double> out;
  const double first = std::nearbyint(low / step), count = std::nearbyint((high - low) / step);
  for (int i = 0; i <= count; ++i) out.push_back((first + i) * step);
  return out;
}

std::string Axis::tick_text(double tick) const {
  if (tick == 0) return "0";
  if (step < 1e-6 || std::abs(tick) >= 1e7) {
    std::array<char, 32> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), tick,
                                   std::chars_format::general, 6)
                         .ptr;
    return {buffer.data(), end};
  }
  return fixed_text(tick, std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9))));
}

Axis axis_over(std::string label, std::span<const double> values, bool whole) {
  double low = largest, high = -largest;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, std::clamp(value, -largest, largest));
    high = std::max(high, std::clamp(value, -largest, largest));
  }
  if (low > high) low = 0, high = 1;
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low <= std::max(1e-9 * size, smallest)) {
    // For a single value, the axis extends some way to both sides.
    const double around = size > 1e3 * smallest ? 0.1 * size : 1;
    low -= around, high += around;
  }
  double step = round_step((high - low) / 5);
  if (whole) step = std::max(step, 1.0);
  return {std::move(label), std::floor(low / step) * step, std::ceil(high / step) * step, step};
}

Chart::Chart(std::string name, Axis x, Axis y)
    : name_(std::move(name)), x_(std::move(x)), y_(std::move(y)) {}

bool Chart::holds(const Mark& mark) const {
  const auto inside = [](const Axis& axis, double value) {
    const double slack = 1e-9 * (axis.high - axis.low);
    return axis.low - slack <= value && value <= axis.high + slack;
  };
  return inside(x_, mark.x) && inside(y_, mark.y);
}

std::string Chart::px_x(double x) const {
  return px(left + (x - x_.low) / (x_.high - x_.low) * (width - left - right));
}

std::string Chart::px_y(double y) const {
  return px(height - bottom - (y - y_.low) / (y_.high - y_.low) * (height - top - bottom));
}

void Chart::dots(std::string_view css, std::span<const Mark> marks) {
  body_ += "<g class=\"dots " + std::string(css) + "\">";
  std::set<std::string> spots;
  for (const Mark& mark : marks) {
    if (!holds(mark)) continue;
    const std::string x = px_x(mark.x), y = px_y(mark.y);
    if (marks.size() > most_titles)
      spots.insert("M" + x + " " + y + "h0");
    else
      body_ += "<circle cx=\"" + x + "\" cy=\"" + y + "\" r=\"3.5\">" + title_of(mark.title) +
               "</circle>";
  }
  if (!spots.empty()) {
    // A stroke of length 0 with round caps is a dot.
    body_ += "<path d=\"";
    for (const std::string& spot : spots) body_ += spot;
    body_ += "\"/>";
  }
  body_ += "</g>\n";
}

void Chart::steps(std::string_view css, std::span<const Mark> marks, bool x_first) {
  std::string path;
  for (const Mark& mark : marks) {
    if (!holds(mark)) continue;
    const std::string x = px_x(mark.x), y = px_y(mark.y);
    if (path.empty())
      path = "M" + x + " " + y;
    else
      path += x_first ? "H" + x + "V" + y : "V" + y + "H" + x;
  }
  if (!path.empty())
    body_ += "<path class=\"line " + std::string(css) + "\" d=\"" + path + "\"/>\n";
}

void Chart::line(std::string_view css, std::span<const Mark> marks) {
  std::string path;
  for (const Mark& mark : marks)
    if (holds(mark)) path += (path.empty() ? "M" : "L") + px_x(mark.x) + " " + px_y(mark.y);
  if (!path.empty())
    body_ += "<path class=\"line " + std::string(css) + "\" d=\"" + path + "\"/>\n";
}

void Chart::strokes(std::string_view css, std::span<const double> places) {
  std::string path;
  for (const double x : places)
    if (holds({x, y_.low, ""})) path += "M" + px_x(x) + " " + px_y(y_.low) + "v-8";
  if (!path.empty())
    body_ += "<path class=\"line " + std::string(css) + "\" d=\"" + path + "\"/>\n";
}

std::string Chart::frame() const {
  std::string grid, labels;
  for (const double tick : x_.ticks()) {
    grid += "M" + px_x(tick) + " " + px(top) + "V" + px(height - bottom);
    labels += "<text x=\"" + px_x(tick) + "\" y=\"" + px(height - bottom + 16) +
              "\" text-anchor=\"middle\">" + x_.tick_text(tick) + "</text>";
  }
  for (const double tick : y_.ticks()) {
    grid += "M" + px(left) + " " + px_y(tick) + "H" + px(width - right);
    labels += "<text x=\"" + px(left - 6) + "\" y=\"" + px_y(tick) +
              "\" dy=\"4\" text-anchor=\"end\">" + y_.tick_text(tick) + "</text>";
  }
  const double middle = (top + height - bottom) / 2;
  labels += text_at((left + width - right) / 2, height - 8, "middle", x_.label);
  labels += text_at(14, middle, "middle", shortened(y_.label, 34),
                    " transform=\"rotate(-90 14 " + px(middle) + ")\"");
  return "<path class=\"grid\" d=\"" + grid + "\"/>\n<g class=\"labels\">" + labels + "</g>\n";
}

std::string Chart::svg() const {
  return svg_open(name_, width, height) + frame() + body_ + "</svg>\n";
}

std::string bar_chart(const std::string& name, std::span<const Bar> bars) {
  constexpr double row = 22, start = 270, longest = 300;
  double greatest = 0;
  for (const Bar& bar : bars) greatest = std::max(greatest, bar.value);
  std::string out = svg_open(name, width, row * static_cast<double>(bars.size()) + 4);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = row * static_cast<double>(i) + 2;
    const double length = greatest > 0 ? longest * std::max(bars[i].value, 0.0) / greatest : 0;
    out += "<g>" + title_of(bars[i].label) + "<rect class=\"bar\" x=\"" + px(start) + "\" y=\"" +
           px(y + 3) + "\" width=\"" + px(length) + "\" height=\"" + px(row - 6) + "\"/>" +
           "<g class=\"labels\">" +
           text_at(start - 8, y + 15, "end", shortened(bars[i].label, 38)) +
           text_at(start + length + 6, y + 15, "start", fixed_text(100 * bars[i].value, 1) + " %") +
           "</g></g>\n";
  }
  return out + "</svg>\n";
}

std::string heat_map(const HeatMap& map) {
  constexpr std::size_t most_points = 34;
  constexpr double cell_width = 46, cell_height = 22;
  const auto longest_of = [&](const std::vector<std::string>& labels) {
    std::size_t longest = 0;
    for (const std::string& label : labels)
      longest = std::max(longest, std::min(label.size(), most_points));
    return longest;
  };
  const std::size_t longest = longest_of(map.columns);
  const double start_x =
      14 + 7 * static_cast<double>(std::max<std::size_t>(longest_of(map.rows), 10));
  // A letter of a label takes about 7 units. The labels lean by 50 degrees, so a letter adds 5.4 to
  // the height, and 4.6 to the width by which the last label reaches beyond the map.
  const double start_y = 20 + 5.4 * static_cast<double>(longest);
  const double beyond = 4.6 * static_cast<double>(longest);
  const auto columns = static_cast<double>(map.columns.size());
  const auto rows = static_cast<double>(map.rows.size());
  std::string out =
      svg_open(map.name, start_x + columns * cell_width + beyond, start_y + rows * cell_height + 4);
  out += "<g class=\"labels\">";
  for (std::size_t c = 0; c < map.columns.size(); ++c) {
    const double x = start_x + (static_cast<double>(c) + 0.5) * cell_width, y = start_y - 8;
    out += "<g>" + title_of(map.columns[c]) +
           text_at(x, y, "start", shortened(map.columns[c], most_points),
                   " transform=\"rotate(-50 " + px(x) + " " + px(y) + ")\"") +
           "</g>";
  }
  for (std::size_t r = 0; r < map.rows.size(); ++r)
    out += "<g>" + title_of(map.rows[r]) +
           text_at(start_x - 8, start_y + static_cast<double>(r) * cell_height + 15, "end",
                   shortened(map.rows[r], most_points)) +
           "</g>";
  out += "</g>\n<g class=\"heat\">";
  for (std::size_t r = 0; r < map.cells.size(); ++r)
    for (std::size_t c = 0; c < map.cells[r].size(); ++c) {
      const HeatCell& cell = map.cells[r][c];
      if (!cell.shade) continue;
      const double x = start_x + static_cast<double>(c) * cell_width;
      const double y = start_y + static_cast<double>(r) * cell_height;
      out += "<g>" + title_of(cell.title) + "<rect x=\"" + px(x + 1) + "\" y=\"" + px(y + 1) +
             "\" width=\"" + px(cell_width - 2) + "\" height=\"" + px(cell_height - 2) +
             "\" fill-opacity=\"" + fixed_text(0.06 + 0.54 * std::clamp(*cell.shade, 0.0, 1.0), 2) +
             "\"/>" + text_at(x + cell_width / 2, y + 15, "middle", shortened(cell.text, 6)) +
             "</g>\n";
    }
  return out + "</g></svg>\n";
}

}  // namespace mase::report
