// SPDX-License-Identifier: Apache-2.0
// Joins table by table.
#include "base/join_trees.hpp"

namespace mase {

Tree join_trees(Tree below, const Tree& above) {
  if (!below.is_dict() || !above.is_dict()) return above;
  for (const auto& [key, value] : above.as_dict()) {
    Tree* entry = below.find(key);
    if (entry)
      *entry = join_trees(std::move(*entry), value);
    else
      below[key] = value;
  }
  return below;
}

}  // namespace mase
