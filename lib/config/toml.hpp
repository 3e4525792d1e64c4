// SPDX-License-Identifier: Apache-2.0
// TOML text to Tree and back. The only folder that knows toml++.
#pragma once

#include <string>
#include <string_view>

#include "base/tree.hpp"

namespace mase::config {

/// Parses TOML into a dict whose entries stand in file order, each with the places of key and
/// value. A syntax error, a duplicate key or a date is Error(Fault::config) with file:line:column.
Tree parse_toml(std::string_view text, const std::string& file);
Tree read_toml(const std::string& path);  ///< Error(Fault::config) when it cannot be read

/// TOML text in the dict's order; null is written as "NA"; parses back to an equal tree.
std::string to_toml(const Tree& tree);

}  // namespace mase::config
