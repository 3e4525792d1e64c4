// SPDX-License-Identifier: Apache-2.0
// Reading tokenizer.json: a table of it with its place, so that an error names file and key, and
// tables of the kinds that a part of it can be.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"

namespace mase::tokenizer {

/// A value of the file and where it stands: "tokenizer.json: model.vocab". What is missing or of a
/// wrong type is Error(Fault::file).
class Section {
 public:
  Section(const Tree& tree, std::string where) : tree_(&tree), where_(std::move(where)) {}
  static Section of_file(const Tree& tree, const std::string& origin);

  const Tree& tree() const { return *tree_; }
  const std::string& where() const { return where_; }
  [[noreturn]] void fail(const std::string& message) const { file_error(where_ + ": " + message); }

  /// The value of a key; nullopt when it is absent or null.
  std::optional<Section> find(std::string_view key) const;
  Section at(std::string_view key) const;
  std::vector<Section> items(std::string_view key) const;  ///< of a list

  bool boolean(std::string_view key) const;
  bool boolean(std::string_view key, bool otherwise) const;
  std::string text(std::string_view key) const;
  std::string text(std::string_view key, std::string_view otherwise) const;
  char32_t character(std::string_view key) const;    ///< a text of one code point
  std::uint32_t number(std::string_view key) const;  ///< from 0 to 2^31 - 1
  std::uint32_t number(std::string_view key, std::uint32_t otherwise) const;

  bool as_boolean() const;
  const std::string& as_text() const;
  std::uint32_t as_number() const;
  double as_double() const;
  const Tree::List& as_list() const;
  const Tree::Dict& as_dict() const;

 private:
  std::string inside(std::string_view key) const;

  const Tree* tree_;
  std::string where_;
  bool is_file_ = false;
};

/// One kind of a part: its name in the file and what reads it.
template <class Part>
struct Kind {
  std::string_view name;
  std::unique_ptr<Part> (*read)(const Section& section);
};

/// "A, B, C": the names of rows.
template <class Rows>
std::string names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return join(names, ", ");
}

/// The row of a table that has the value of a key as its name.
template <class Rows>
const auto& row_named(const Rows& rows, const Section& section, std::string_view key) {
  const std::string name = section.text(key);
  for (const auto& row : rows)
    if (row.name == name) return row;
  section.at(key).fail(quote(name) + " is unknown; known are " + names_of(rows));
}

template <class Part>
std::unique_ptr<Part> read_kind(std::span<const Kind<Part>> kinds, const Section& section) {
  return row_named(kinds, section, "type").read(section);
}

}  // namespace mase::tokenizer
