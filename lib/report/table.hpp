// SPDX-License-Identifier: Apache-2.0
// Text tables for people, Markdown for pages, and CSV for spreadsheets.
#pragma once

#include <string>
#include <vector>

namespace mase::report {

enum class Align { left, center, right };

/// A table in `+---+` boxes, like the effective-settings table of the reference system. Columns are
/// as wide as needed; cells wrap at `wrap` characters (0: never).
std::string boxed(const std::vector<std::string>& header,
                  const std::vector<std::vector<std::string>>& rows,
                  const std::vector<Align>& align = {}, std::size_t wrap = 0);
/// A table with two spaces between columns and a rule under the header.
std::string plain(const std::vector<std::string>& header,
                  const std::vector<std::vector<std::string>>& rows,
                  const std::vector<Align>& align = {});
/// A Markdown table; a `|` in a cell is escaped.
std::string markdown(const std::vector<std::string>& header,
                     const std::vector<std::vector<std::string>>& rows);
std::string csv(const std::vector<std::string>& header,
                const std::vector<std::vector<std::string>>& rows);

}  // namespace mase::report
