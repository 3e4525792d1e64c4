// SPDX-License-Identifier: Apache-2.0
// Access to the parts of a Tree.
#include "base/tree.hpp"

#include "base/error.hpp"

namespace mase {
namespace {

template <class T, class Variant>
auto& get(Variant& value, std::string_view wanted, std::string_view kind) {
  auto* found = std::get_if<T>(&value);
  MASE_CHECK(found, "a value of kind " + std::string(kind) + " was read as " + std::string(wanted));
  return *found;
}

}  // namespace

bool Tree::as_bool() const { return get<bool>(value_, "bool", kind_name()); }

std::int64_t Tree::as_int() const { return get<std::int64_t>(value_, "integer", kind_name()); }

double Tree::as_double() const {
  if (is_int()) return static_cast<double>(as_int());
  return get<double>(value_, "float", kind_name());
}

const std::string& Tree::as_string() const {
  return get<std::string>(value_, "string", kind_name());
}

const Tree::List& Tree::as_list() const { return get<List>(value_, "array", kind_name()); }
Tree::List& Tree::as_list() { return get<List>(value_, "array", kind_name()); }
const Tree::Dict& Tree::as_dict() const { return get<Dict>(value_, "table", kind_name()); }
Tree::Dict& Tree::as_dict() { return get<Dict>(value_, "table", kind_name()); }

const Tree* Tree::find(std::string_view key) const {
  const Dict* dict = std::get_if<Dict>(&value_);
  if (!dict) return nullptr;
  for (const auto& [name, entry] : *dict)
    if (name == key) return &entry;
  return nullptr;
}

Tree* Tree::find(std::string_view key) {
  return const_cast<Tree*>(static_cast<const Tree*>(this)->find(key));
}

const Tree& Tree::at(std::string_view key) const {
  const Tree* found = find(key);
  MASE_CHECK(found,
             "no entry '" + std::string(key) + "' in a value of kind " + std::string(kind_name()));
  return *found;
}

Tree& Tree::operator[](std::string_view key) {
  if (is_null()) value_ = Dict{};
  if (Tree* found = find(key)) return *found;
  return as_dict().emplace_back(std::string(key), Tree()).second;
}

void Tree::push_back(Tree item) {
  if (is_null()) value_ = List{};
  as_list().push_back(std::move(item));
}

std::size_t Tree::size() const {
  if (const List* list = std::get_if<List>(&value_)) return list->size();
  if (const Dict* dict = std::get_if<Dict>(&value_)) return dict->size();
  return 0;
}

std::string_view Tree::kind_name() const {
  constexpr std::string_view names[] = {"null",   "bool",  "integer", "float",
                                        "string", "array", "table"};
  return names[value_.index()];
}

}  // namespace mase
