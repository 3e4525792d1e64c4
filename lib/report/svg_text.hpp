// SPDX-License-Identifier: Apache-2.0
// Pieces of SVG text that all charts use.
#pragma once

#include <string>
#include <string_view>

namespace mase::report {

/// A coordinate with at most one decimal.
std::string px(double value);
/// The opening tag; `name` describes the chart to readers who cannot see it.
std::string svg_open(const std::string& name, double wide, double high);
/// A text element; `anchor` is "start", "middle" or "end", and `more` has further attributes.
std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    const std::string& more = "");
/// The element with the text that is shown when the pointer rests; empty when the text is empty.
std::string title_of(const std::string& text);

}  // namespace mase::report
