// SPDX-License-Identifier: Apache-2.0
// Numbers, texts and tags.
#include "report/svg_text.hpp"

#include "base/text.hpp"
#include "report/chart.hpp"

namespace mase::report {

std::string px(double value) {
  std::string text = fixed_text(value, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string svg_open(const std::string& name, double wide, double high) {
  return "<svg role=\"img\" aria-label=\"" + escaped(name) + "\" viewBox=\"0 0 " + px(wide) + " " +
         px(high) + "\" width=\"" + px(wide) + "\" height=\"" + px(high) + "\">\n";
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    const std::string& more) {
  return "<text x=\"" + px(x) + "\" y=\"" + px(y) + "\" text-anchor=\"" + std::string(anchor) +
         "\"" + more + ">" + escaped(text) + "</text>";
}

std::string title_of(const std::string& text) {
  return text.empty() ? "" : "<title>" + escaped(text) + "</title>";
}

}  // namespace mase::report
