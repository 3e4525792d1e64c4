// SPDX-License-Identifier: Apache-2.0
// The text form of formats, `integer(8, 4, is_signed=false)`: writes it, and reads it into a dict
// of fields.
#pragma once

#include <string>
#include <string_view>

#include "base/tree.hpp"

namespace mase::formats {

/// `name(a, b, key=c)`: the first `positional` entries of `fields` by position, the others as
/// key=value when they differ from `defaults` or have no default. `shortened` cuts long lists, for
/// people.
std::string format_text(std::string_view name, int positional, const Tree& fields,
                        const Tree& defaults, bool shortened = false);

/// The parts of the text form: a name and arguments; arguments without a key come first.
struct FormatCall {
  std::string name;
  SourceLocation where;
  Tree positional = Tree::list();
  Tree keyed = Tree::dict();
};

/// Error(Fault::config) names the column when the text is not a call. Values are true, false,
/// integers, numbers, words, quoted strings and [lists] of values.
FormatCall read_format_call(std::string_view text);

}  // namespace mase::formats
