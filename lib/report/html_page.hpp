// SPDX-License-Identifier: Apache-2.0
// Pages of HTML in one file that open offline, complete without their script, which only sorts
// tables. All text is escaped here.
#pragma once

#include <string>
#include <vector>

namespace mase::report {

/// A table that scrolls; class "sortable" sorts by the column whose head is clicked.
std::string html_table(const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows, const std::string& css);
/// A heading, and HTML below it.
std::string html_section(const std::string& title, const std::string& content);
/// A name and its text in a list of such, <dl>; nothing without a text.
std::string html_entry(const std::string& name, const std::string& text);
/// An entry of a legend: a mark in the colour of a class, and what it stands for.
std::string html_key(const std::string& css, const std::string& meaning);
/// A chart with a caption, both as HTML but for the caption's text.
std::string html_figure(const std::string& caption, const std::string& content);
/// The whole file around the HTML of its body.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace mase::report
