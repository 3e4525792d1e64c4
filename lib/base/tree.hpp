// SPDX-License-Identifier: Apache-2.0
// Tree: an ordered, JSON-like value that remembers its place in a text. Parsed TOML, node metadata,
// reports and checkpoint metadata are trees, so none of them needs the type of a library.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/diagnostics.hpp"

namespace mase {

/// A null, bool, integer, number, string, list or dict. Asking for a type that a value does not
/// have, or for a key that is missing, is an internal error; `find` looks for a key without it.
class Tree {
 public:
  using List = std::vector<Tree>;
  using Dict = std::vector<std::pair<std::string, Tree>>;  ///< in the order of insertion

  Tree() = default;  ///< null
  Tree(bool value) : value_(value) {}
  Tree(int value) : value_(static_cast<std::int64_t>(value)) {}
  Tree(std::int64_t value) : value_(value) {}
  Tree(std::size_t value) : value_(static_cast<std::int64_t>(value)) {}
  Tree(double value) : value_(value) {}
  Tree(const char* value) : value_(std::string(value)) {}
  Tree(std::string_view value) : value_(std::string(value)) {}
  Tree(std::string value) : value_(std::move(value)) {}
  Tree(List value) : value_(std::move(value)) {}
  Tree(Dict value) : value_(std::move(value)) {}

  static Tree list() { return Tree(List{}); }
  static Tree dict() { return Tree(Dict{}); }
  template <class Range>
  static Tree list_of(const Range& range) {
    List items;
    for (const auto& item : range) items.emplace_back(item);
    return Tree(std::move(items));
  }

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_int() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_double() const { return std::holds_alternative<double>(value_); }
  bool is_number() const { return is_int() || is_double(); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_list() const { return std::holds_alternative<List>(value_); }
  bool is_dict() const { return std::holds_alternative<Dict>(value_); }

  /// Accessors; a wrong kind is an internal error (check the kind first on untrusted input).
  bool as_bool() const;
  std::int64_t as_int() const;
  double as_double() const;  ///< accepts an int too
  const std::string& as_string() const;
  const List& as_list() const;
  List& as_list();
  const Dict& as_dict() const;
  Dict& as_dict();

  /// The entry of a dict; nullptr when it is absent or this is not a dict.
  const Tree* find(std::string_view key) const;
  Tree* find(std::string_view key);
  const Tree& at(std::string_view key) const;  ///< internal error when absent
  /// The entry of a dict, appended as null when absent (a null tree becomes a dict). The reference
  /// is valid until another entry is appended.
  Tree& operator[](std::string_view key);
  void push_back(Tree item);  ///< appends to a list (a null tree becomes a list)
  std::size_t size() const;   ///< entries of a list or dict, otherwise 0

  /// "null", "bool", "integer", "float", "string", "array" or "table": the words of TOML.
  std::string_view kind_name() const;

  SourceLocation where;      ///< place of the value (parsed text only)
  SourceLocation key_where;  ///< place of its key

  bool operator==(const Tree& other) const { return value_ == other.value_; }  ///< ignores places

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Dict> value_;
};

/// JSON text: compact when `indent` < 0. NaN and infinities become null. Strings must be UTF-8.
std::string to_json(const Tree& tree, int indent = 2);

/// Parses JSON; throws Error(Fault::file) naming `origin` and the position.
Tree parse_json(std::string_view text, const std::string& origin);

}  // namespace mase
