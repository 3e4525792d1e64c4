// SPDX-License-Identifier: Apache-2.0
// Finds sizes in the text of a condition.
#include "ir/guards.hpp"

#include "base/text.hpp"
#include "ir/graph.hpp"

namespace mase::ir {

std::optional<std::vector<ReadSize>> sizes_in(const std::string& condition) {
  if (condition.find(long_expression) != std::string::npos) return std::nullopt;
  std::vector<ReadSize> sizes;
  for (std::size_t at = condition.find("size("); at != std::string::npos;
       at = condition.find("size(", at + 1)) {
    const std::size_t comma = condition.find(", ", at), end = condition.find(')', at);
    if (comma == std::string::npos || end < comma) return std::nullopt;
    const auto dim = parse_int(condition.substr(comma + 2, end - comma - 2));
    if (!dim) return std::nullopt;
    sizes.push_back({condition.substr(at + 5, comma - at - 5), *dim});
  }
  if (sizes.empty()) return std::nullopt;
  return sizes;
}

}  // namespace mase::ir
