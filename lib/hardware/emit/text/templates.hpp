// SPDX-License-Identifier: Apache-2.0
// Texts of hw_templates, and tokens such as @TOP@ in them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mase::emit {

/// Text of the file `name` below hw_templates.
std::string template_text(const std::string& name);

/// SystemVerilog with its conditions on MASE_RELOAD decided: emitted modules have none.
std::string decided(std::string_view text, bool reloadable);

/// A token without its '@'s, and what stands in its place.
using Tokens = std::vector<std::pair<std::string_view, std::string>>;

/// `text` with every token replaced, in one go: what is put in is not searched. Every token of the
/// text has a value.
std::string filled(std::string_view text, const Tokens& tokens);

}  // namespace mase::emit
