// SPDX-License-Identifier: Apache-2.0
// JSON whose long lists and dicts are read item by item, so that no Tree holds all of them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/tree.hpp"

namespace mase {

/// Sees a value below the keys that lead to it from the root ("" for the place in a list). Returns
/// true if it has used the value, which the Tree of the document then leaves out.
using JsonItems = std::function<bool(std::span<const std::string> keys, Tree& item)>;

/// As parse_json, but shows the values below `depth` keys to `take` as soon as they are complete.
/// Keys that occur twice among values that were taken are for `take` to refuse.
Tree parse_json_items(std::string_view text, const std::string& origin, std::size_t depth,
                      const JsonItems& take);

}  // namespace mase
