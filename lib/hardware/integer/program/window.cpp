// SPDX-License-Identifier: Apache-2.0
// Windows as text.
#include "hardware/integer/program/window.hpp"

namespace mase::integer {

std::string window_text(const Window& window) {
  const auto pair = [](std::int64_t a, std::int64_t b) {
    return std::to_string(a) + "x" + std::to_string(b);
  };
  std::string text =
      pair(window.y.kernel, window.x.kernel) + " stride " + pair(window.y.stride, window.x.stride);
  if (window.y.dilation > 1 || window.x.dilation > 1)
    text += " dilation " + pair(window.y.dilation, window.x.dilation);
  return text + " pad " + pair(window.y.pad, window.x.pad);
}

}  // namespace mase::integer
