// SPDX-License-Identifier: Apache-2.0
// Reading and filling in of templates.
#include "hardware/emit/text/templates.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"

namespace mase::emit {
namespace {

/// Length of "@NAME@" at the beginning of the text, or 0.
std::size_t token_length(std::string_view text) {
  const std::size_t end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", 1);
  return end != std::string_view::npos && end > 1 && text[end] == '@' ? end + 1 : 0;
}

const std::string& value_of(std::string_view token, const Tokens& tokens) {
  const auto found = std::find_if(tokens.begin(), tokens.end(),
                                  [&](const auto& entry) { return entry.first == token; });
  MASE_CHECK(found != tokens.end(), "a template's @" + std::string(token) + "@ has no value");
  return found->second;
}

}  // namespace

std::string template_text(const std::string& name) {
  return read_file(share_folder() + "/hw_templates/" + name);
}

std::string decided(std::string_view text, bool reloadable) {
  std::string out;
  bool inside = false, kept = true;
  for (std::size_t end = 0; !text.empty(); text.remove_prefix(end)) {
    end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    const bool begins = line.starts_with("`ifdef MASE_RELOAD");
    const bool ends = inside && line.starts_with("`endif");
    if (begins)
      kept = reloadable;
    else if (ends)
      kept = true;
    else if (kept)
      out += line;
    inside = (inside || begins) && !ends;
  }
  return out;
}

std::string filled(std::string_view text, const Tokens& tokens) {
  std::string out;
  for (;;) {
    const std::size_t at = text.find('@');
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at);
    const std::size_t length = token_length(text);
    out += length > 0 ? value_of(text.substr(1, length - 2), tokens) : "@";
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
}

}  // namespace mase::emit
