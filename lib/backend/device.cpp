// SPDX-License-Identifier: Apache-2.0
// Checks how names of devices are written.
#include "backend/device.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::backend {
namespace {

constexpr std::size_t most_digits = 3;

bool is_kind(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool is_index(std::string_view text) {
  return !text.empty() && text.size() <= most_digits &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string parse_device(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const bool numbered = colon != std::string::npos;
  const bool one = kind == "auto" || kind == "cpu";
  if (!is_kind(kind) || (numbered && (one || !is_index(text.substr(colon + 1)))))
    config_error("'" + text + "' is not the name of a device; write cpu, auto, cuda or cuda:1");
  return text;
}

bool DeviceName::read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                            Diagnostics& diagnostics) {
  std::string given;
  if (!field_detail::read_value(tree, key, rules, given, diagnostics)) return false;
  try {
    name = parse_device(given);
    return true;
  } catch (const Error& error) {
    diagnostics.error(tree.where, std::string(key) + ": " + error.what());
    return false;
  }
}

}  // namespace mase::backend
