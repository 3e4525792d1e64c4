// SPDX-License-Identifier: Apache-2.0
// The message of a failed MASE_CHECK.
#include "base/error.hpp"

namespace mase {

void check_failed(const char* condition, const char* file, int line, std::string_view message) {
  std::string_view name = file;
  if (const auto slash = name.rfind('/'); slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  std::string text = "internal error: " + std::string(message);
  text += " (check `" + std::string(condition) + "` failed at " + std::string(name) + ":" +
          std::to_string(line) + "); please report this";
  throw Error(Fault::internal, text);
}

}  // namespace mase
