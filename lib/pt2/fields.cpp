// SPDX-License-Identifier: Apache-2.0
// Checks kinds and keys of JSON values.
#include "pt2/fields.hpp"

#include "base/error.hpp"

namespace mase::pt2 {
namespace {

[[noreturn]] void other_kind(std::string_view what, const Tree& value, std::string_view wanted) {
  file_error(std::string(what) + " is of kind " + std::string(value.kind_name()) + ", not " +
             std::string(wanted));
}

}  // namespace

const Tree& field(const Tree& dict, std::string_view key) {
  if (!dict.is_dict()) other_kind("what has '" + std::string(key) + "'", dict, "table");
  const Tree* found = dict.find(key);
  if (!found) file_error("the key '" + std::string(key) + "' is missing");
  return *found;
}

std::string text_of(const Tree& dict, std::string_view key) {
  const Tree& value = field(dict, key);
  if (!value.is_string()) other_kind("'" + std::string(key) + "'", value, "string");
  return value.as_string();
}

std::string text_or_empty(const Tree& dict, std::string_view key) {
  const Tree* value = dict.find(key);
  return value && value->is_string() ? value->as_string() : "";
}

std::int64_t integer_of(const Tree& value, std::string_view what) {
  if (!value.is_int()) other_kind(what, value, "integer");
  return value.as_int();
}

bool truth_of(const Tree& value, std::string_view what) {
  if (!value.is_bool()) other_kind(what, value, "bool");
  return value.as_bool();
}

const Tree::List& list_of(const Tree& value, std::string_view what) {
  if (!value.is_list()) other_kind(what, value, "array");
  return value.as_list();
}

const Tree::Dict& dict_of(const Tree& value, std::string_view what) {
  if (!value.is_dict()) other_kind(what, value, "table");
  return value.as_dict();
}

UnionValue union_of(const Tree& value, std::string_view what) {
  const Tree::Dict& entries = dict_of(value, what);
  const std::pair<std::string, Tree>* found = nullptr;
  for (const auto& entry : entries) {
    if (entry.second.is_null() && entries.size() > 1) continue;
    if (found)
      file_error(std::string(what) + " is '" + found->first + "' and '" + entry.first + "'");
    found = &entry;
  }
  if (!found) file_error(std::string(what) + " is empty");
  return {found->first, found->second};
}

}  // namespace mase::pt2
