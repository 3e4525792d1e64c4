// SPDX-License-Identifier: Apache-2.0
// The pieces of SVG text that all charts are made of.
#pragma once

#include <string>
#include <string_view>

namespace mase::report {

/// A coordinate with at most one decimal.
std::string px(double value);
/// The opening tag; `name` describes the chart to those who cannot see it.
std::string svg_open(const std::string& name, double wide, double high);
/// A text; `anchor` is "start", "middle" or "end", `more` further attributes.
std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    const std::string& more = "");
/// What is shown where the pointer rests; nothing without a text.
std::string title_of(const std::string& text);

}  // namespace mase::report
