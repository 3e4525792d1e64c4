// SPDX-License-Identifier: Apache-2.0
// Writes the pages of docs/reference: the lists of `mase list` as Markdown.
#pragma once

#include <string>

#include "base/tree.hpp"

namespace mase::driver {

/// A whole page: a title, `intro`, a table of the entries, and a section for each entry with
/// options. `entries` are those of `mase list WHAT --json`. If they are plain fields (settings),
/// the page has one table of options.
std::string markdown_page(const std::string& what, const std::string& intro, const Tree& entries);

}  // namespace mase::driver
