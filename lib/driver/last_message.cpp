// SPDX-License-Identifier: Apache-2.0
// Looks at the text from its end.
#include "driver/last_message.hpp"

#include "base/text.hpp"

namespace mase::driver {

std::string last_message(const std::string& text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string::npos) return "";
  const std::size_t before = text.rfind('\n', last);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const std::string line(trim(text.substr(begin, last + 1 - begin)));
  constexpr std::string_view label = "error: ";
  return line.starts_with(label) ? line.substr(label.size()) : line;
}

}  // namespace mase::driver
