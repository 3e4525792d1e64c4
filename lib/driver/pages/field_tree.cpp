// SPDX-License-Identifier: Apache-2.0
// Bounds have the type of their field.
#include "driver/pages/field_tree.hpp"

namespace mase::driver {
namespace {

/// Converts a bound to the type of the field.
Tree bound_tree(double bound, const FieldInfo& info) {
  return info.type.ends_with("integer") ? Tree(static_cast<std::int64_t>(bound)) : Tree(bound);
}

}  // namespace

Tree field_tree(const FieldInfo& info) {
  Tree out = Tree::dict();
  out["name"] = info.name;
  out["type"] = info.type;
  out["optional"] = info.optional;
  out["default"] = info.default_value;
  if (info.low) out["min"] = bound_tree(*info.low, info);
  if (info.high) out["max"] = bound_tree(*info.high, info);
  if (!info.choices.empty()) out["choices"] = Tree::list_of(info.choices);
  out["doc"] = info.doc;
  return out;
}

Tree fields_tree(const std::vector<FieldInfo>& fields) {
  Tree out = Tree::list();
  for (const FieldInfo& field : fields) out.push_back(field_tree(field));
  return out;
}

}  // namespace mase::driver
