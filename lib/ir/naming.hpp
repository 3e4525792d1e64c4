// SPDX-License-Identifier: Apache-2.0
// How torch.fx names nodes: users write these names in configuration files.
#pragma once

#include <string>
#include <string_view>

#include "ir/graph.hpp"

namespace mase::ir {

/// The wanted name as a valid one: characters outside [A-Za-z0-9_] become `_`, `_` is put before a
/// leading digit, and "" becomes "_unnamed".
std::string sanitized_name(std::string_view wanted);

/// True for words of Python and torch.fx that no node may have as name: "input", "max", "for", ...
bool is_reserved_name(std::string_view name);

/// The name that torch.fx wants for a node: for functions it comes from the last component of the
/// target, otherwise from the whole target.
std::string wanted_name(const Node& node);

/// The module that a path belongs to: "a.b" for "a.b.weight", "" for "weight".
std::string_view owner_of(std::string_view path);
/// "a.b.weight" → "weight".
std::string_view last_part(std::string_view path);

}  // namespace mase::ir
