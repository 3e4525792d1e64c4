// SPDX-License-Identifier: Apache-2.0
// Fields as entries of `mase list WHAT --json`.
#pragma once

#include <vector>

#include "base/field.hpp"
#include "base/tree.hpp"

namespace mase::driver {

/// {"name", "type", "optional", "default", "min", "max", "choices", "doc"}; bounds and choices only
/// where there are any.
Tree field_tree(const FieldInfo& info);
Tree fields_tree(const std::vector<FieldInfo>& fields);

}  // namespace mase::driver
