// SPDX-License-Identifier: Apache-2.0
// Reads KEY=VALUE arguments of a benchmark as its settings.
#pragma once

#include <string>

#include "base/diagnostics.hpp"
#include "base/error.hpp"
#include "base/field.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"

namespace mase::bench {

/// Converts integers, true and false to their types. Everything else is text.
inline Tree typed_value(const std::string& text) {
  if (const auto number = parse_int(text)) return Tree(*number);
  if (text == "true" || text == "false") return Tree(text == "true");
  return Tree(text);
}

/// Error(Fault::config) with `usage` for a word without "="; DiagnosticsError for unknown keys.
template <class Settings>
Settings read_key_values(int count, char** arguments, const std::string& usage) {
  Tree table = Tree::dict();
  for (int i = 1; i < count; ++i) {
    const std::string text = arguments[i];
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) config_error("usage: " + usage);
    table[text.substr(0, equals)] = typed_value(text.substr(equals + 1));
  }
  Settings settings;
  Diagnostics diagnostics;
  read_fields(table, settings, diagnostics);
  diagnostics.throw_if_errors();
  return settings;
}

}  // namespace mase::bench
