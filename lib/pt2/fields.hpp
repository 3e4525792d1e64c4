// SPDX-License-Identifier: Apache-2.0
// Checked access to the JSON of an exported program. Every function throws Error(Fault::file) that
// names the key when a value is missing or is of another kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/tree.hpp"

namespace mase::pt2 {

const Tree& field(const Tree& dict, std::string_view key);
std::string text_of(const Tree& dict, std::string_view key);
/// "" where the key is missing or null.
std::string text_or_empty(const Tree& dict, std::string_view key);
std::int64_t integer_of(const Tree& value, std::string_view what);
bool truth_of(const Tree& value, std::string_view what);
const Tree::List& list_of(const Tree& value, std::string_view what);
const Tree::Dict& dict_of(const Tree& value, std::string_view what);

/// The only entry of a union that is not null: {"as_int": 3} is "as_int" and 3.
struct UnionValue {
  std::string_view kind;
  const Tree& value;
};
UnionValue union_of(const Tree& value, std::string_view what);

}  // namespace mase::pt2
