// SPDX-License-Identifier: Apache-2.0
// TOML text to Tree and back. Only this folder uses toml++.
#pragma once

#include <string>
#include <string_view>

#include "base/tree.hpp"

namespace mase::config {

/// Parses TOML into a dict with entries in file order, each with the places of its key and value.
/// Error(Fault::config) with file:line:column for a syntax error, a duplicate key or a date.
Tree parse_toml(std::string_view text, const std::string& file);
Tree read_toml(const std::string& path);  ///< Error(Fault::config) when it cannot be read

/// TOML text in the dict's order, which parses back to an equal tree. Null is written as "NA".
std::string to_toml(const Tree& tree);

}  // namespace mase::config
