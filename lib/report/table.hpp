// SPDX-License-Identifier: Apache-2.0
// Text tables for people, Markdown for pages, and CSV for spreadsheets.
#pragma once

#include <string>
#include <vector>

namespace mase::report {

enum class Align { left, center, right };

/// Columns as wide as needed, cells wrapped at `wrap` characters (0: never).
/// Style: `+---+` boxes as in the effective-settings table of the reference.
std::string boxed(const std::vector<std::string>& header,
                  const std::vector<std::vector<std::string>>& rows,
                  const std::vector<Align>& align = {}, std::size_t wrap = 0);
/// Two spaces between columns, a rule under the header.
std::string plain(const std::vector<std::string>& header,
                  const std::vector<std::vector<std::string>>& rows,
                  const std::vector<Align>& align = {});
/// A table of Markdown; a `|` in a cell is escaped.
std::string markdown(const std::vector<std::string>& header,
                     const std::vector<std::vector<std::string>>& rows);
std::string csv(const std::vector<std::string>& header,
                const std::vector<std::vector<std::string>>& rows);

}  // namespace mase::report
