// SPDX-License-Identifier: Apache-2.0
// How torch.fx names nodes: users write these names in configuration files.
#pragma once

#include <string>
#include <string_view>

#include "ir/graph.hpp"

namespace mase::ir {

/// Characters outside [A-Za-z0-9_] become `_`, a leading digit gets `_` before it, "" is
/// "_unnamed".
std::string sanitized_name(std::string_view wanted);

/// Words of Python (and torch.fx's own) that no node may be called: "input", "max", "for", ...
bool is_reserved_name(std::string_view name);

/// The name torch.fx wants for a node without one: from the target's last component for functions,
/// from the whole target otherwise.
std::string wanted_name(const Node& node);

/// The module that a path stands in: "a.b" of "a.b.weight", "" of "weight".
std::string_view owner_of(std::string_view path);
/// "a.b.weight" → "weight".
std::string_view last_part(std::string_view path);

}  // namespace mase::ir
