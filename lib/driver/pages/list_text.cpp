// SPDX-License-Identifier: Apache-2.0
// Joins lists and writes bounds as text.
#include "driver/pages/list_text.hpp"

#include <vector>

#include "base/text.hpp"

namespace mase::driver {

std::string text_of(const Tree& value) {
  if (value.is_string()) return value.as_string();
  if (!value.is_list()) return to_json(value, -1);
  std::vector<std::string> parts;
  for (const Tree& item : value.as_list()) parts.push_back(text_of(item));
  return join(parts, ", ");
}

bool is_nested(std::string_view key) {
  return key == "options" || key == "parameters" || key == "config_keys" || key == "description";
}

std::string bounds_of(const Tree& field) {
  if (const Tree* choices = field.find("choices"))
    return replace_all(text_of(*choices), ", ", " | ");
  const Tree *low = field.find("min"), *high = field.find("max");
  if (low && high) return text_of(*low) + " .. " + text_of(*high);
  return low ? ">= " + text_of(*low) : "";
}

}  // namespace mase::driver
