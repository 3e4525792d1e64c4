// SPDX-License-Identifier: Apache-2.0
// Typed values of tokenizer.json, and messages for what is not of its type.
#include "tokenizer/section.hpp"

#include "tokenizer/code_points.hpp"

namespace mase::tokenizer {
namespace {

[[noreturn]] void wrong_type(const Section& section, std::string_view wanted) {
  section.fail("must be " + std::string(wanted) + ", and is of the type " +
               std::string(section.tree().kind_name()));
}

}  // namespace

Section Section::of_file(const Tree& tree, const std::string& origin) {
  Section section(tree, origin);
  section.is_file_ = true;
  return section;
}

std::string Section::inside(std::string_view key) const {
  return where_ + (is_file_ ? ": " : ".") + std::string(key);
}

std::optional<Section> Section::find(std::string_view key) const {
  const Tree* found = tree_->find(key);
  if (!found || found->is_null()) return std::nullopt;
  return Section(*found, inside(key));
}

Section Section::at(std::string_view key) const {
  if (!tree_->is_dict()) wrong_type(*this, "a table");
  const auto found = find(key);
  if (!found) fail("has no " + quote(key));
  return *found;
}

std::vector<Section> Section::items(std::string_view key) const {
  const Section list = at(key);
  std::vector<Section> items;
  for (const Tree& item : list.as_list())
    items.emplace_back(item, list.where_ + "[" + std::to_string(items.size()) + "]");
  return items;
}

bool Section::boolean(std::string_view key) const { return at(key).as_boolean(); }
bool Section::boolean(std::string_view key, bool otherwise) const {
  return find(key) ? boolean(key) : otherwise;
}
std::string Section::text(std::string_view key) const { return at(key).as_text(); }
std::string Section::text(std::string_view key, std::string_view otherwise) const {
  return find(key) ? text(key) : std::string(otherwise);
}
std::uint32_t Section::number(std::string_view key) const { return at(key).as_number(); }
std::uint32_t Section::number(std::string_view key, std::uint32_t otherwise) const {
  return find(key) ? number(key) : otherwise;
}

char32_t Section::character(std::string_view key) const {
  const Section value = at(key);
  std::size_t end = 0;
  if (value.as_text().empty()) value.fail("must be one character");
  const char32_t code = next_code_point(value.as_text(), end);
  if (end != value.as_text().size()) value.fail("must be one character");
  return code;
}

bool Section::as_boolean() const {
  if (!tree_->is_bool()) wrong_type(*this, "true or false");
  return tree_->as_bool();
}
const std::string& Section::as_text() const {
  if (!tree_->is_string()) wrong_type(*this, "a text");
  return tree_->as_string();
}
std::uint32_t Section::as_number() const {
  if (!tree_->is_int() || tree_->as_int() < 0 || tree_->as_int() > INT32_MAX)
    wrong_type(*this, "a number from 0 to 2147483647");
  return static_cast<std::uint32_t>(tree_->as_int());
}
double Section::as_double() const {
  if (!tree_->is_number()) wrong_type(*this, "a number");
  return tree_->as_double();
}
const Tree::List& Section::as_list() const {
  if (!tree_->is_list()) wrong_type(*this, "a list");
  return tree_->as_list();
}
const Tree::Dict& Section::as_dict() const {
  if (!tree_->is_dict()) wrong_type(*this, "a table");
  return tree_->as_dict();
}

}  // namespace mase::tokenizer
