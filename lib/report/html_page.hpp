// SPDX-License-Identifier: Apache-2.0
// HTML pages in a single file that opens offline. They are complete without their script, which
// only sorts tables. All text is escaped here.
#pragma once

#include <string>
#include <vector>

namespace mase::report {

/// A table that scrolls. With the class "sortable", a click on a column's head sorts by it.
std::string html_table(const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows, const std::string& css);
/// A heading, and HTML below it.
std::string html_section(const std::string& title, const std::string& content);
/// An entry of a <dl> list: a name and its text; empty when the text is empty.
std::string html_entry(const std::string& name, const std::string& text);
/// An entry of a legend: a mark in the colour of a CSS class, and its meaning.
std::string html_key(const std::string& css, const std::string& meaning);
/// A chart with a caption: `content` is HTML, `caption` is plain text.
std::string html_figure(const std::string& caption, const std::string& content);
/// The whole page, around the HTML of its body.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace mase::report
