// SPDX-License-Identifier: Apache-2.0
// Field: one option of a struct, declared once with name, member, sentence and bounds. Reading,
// writing, help, documentation and search spaces are loops over a struct's `fields()`.
//
//   struct Options {
//     double sparsity = 0.5;
//     static constexpr auto fields() {
//       return std::tuple{
//           Field{"sparsity", &Options::sparsity, "share of weights to zero"}.between(0, 1)};
//     }
//   };
//
// Member types: bool, int, std::int64_t, double, std::string, std::optional and std::vector of
// these, and types with the three functions of FieldValue.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/tree.hpp"

namespace mase {

/// The conditions that a field's value must satisfy besides its type.
struct FieldRules {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::array<std::string_view, 24> choices{};
  std::size_t choice_count = 0;
  std::string_view old_choice{}, new_choice{};  ///< the old spelling is read as the new one
  bool rare = false;
  bool target = false;  ///< says what is wanted, so that something is chosen anew
};

/// One option: the member of `Struct` that holds it, its name for users, and a sentence. Bounds
/// apply to numbers and to the elements of lists, choices to strings.
template <class Struct, class T>
struct Field {
  using Value = T;
  std::string_view name;
  T Struct::*member;
  std::string_view doc;
  FieldRules rules{};

  constexpr Field(std::string_view field_name, T Struct::*field_member, std::string_view sentence)
      : name(field_name), member(field_member), doc(sentence) {}

  constexpr Field between(double low, double high) const {
    Field copy = *this;
    copy.rules.low = low;
    copy.rules.high = high;
    return copy;
  }
  constexpr Field at_least(double low) const {
    return between(low, std::numeric_limits<double>::infinity());
  }
  template <class... Choice>
  constexpr Field one_of(Choice... choice) const {
    static_assert(sizeof...(choice) <= 24);
    Field copy = *this;
    copy.rules.choices = {std::string_view(choice)...};
    copy.rules.choice_count = sizeof...(choice);
    return copy;
  }
  /// Leaves the field out of the short help.
  constexpr Field rare() const {
    Field copy = *this;
    copy.rules.rare = true;
    return copy;
  }
  /// Marks what is wanted of a result: where such a field has its default, nothing is asked for.
  constexpr Field target() const {
    Field copy = *this;
    copy.rules.target = true;
    return copy;
  }
  /// Accepts another spelling of a choice.
  constexpr Field renamed(std::string_view old_choice, std::string_view new_choice) const {
    Field copy = *this;
    copy.rules.old_choice = old_choice;
    copy.rules.new_choice = new_choice;
    return copy;
  }
};

template <class T>
concept Reflected = requires {
  T::fields();
};

/// A type that reads and writes itself: `read_field` returns false after adding a diagnostic, and
/// `field_type()` is the type's name in documentation.
template <class T>
concept FieldValue = requires(T value, const T& fixed, const Tree& tree, std::string_view key,
                              const FieldRules& rules, Diagnostics& diagnostics) {
  { value.read_field(tree, key, rules, diagnostics) } -> std::same_as<bool>;
  { fixed.write_field() } -> std::same_as<Tree>;
  { T::field_type() } -> std::same_as<std::string>;
};

/// A field as documentation shows it.
struct FieldInfo {
  std::string name;
  std::string type;           ///< "integer", "number", "string", "bool", "list of integer", ...
  bool optional = false;      ///< may be "NA"
  std::string default_value;  ///< as written in TOML; "NA" when it has no value
  std::optional<double> low, high;
  std::vector<std::string> choices;
  bool rare = false;    ///< left out of the short help
  bool target = false;  ///< says what is wanted of a result
  std::string doc;

  std::string bounds_text() const;  ///< "0 .. 1", ">= 1", "a | b | c" or ""
};

namespace field_detail {

// On a wrong value each adds a diagnostic at its place, which names `key`, and returns false.
bool read_value(const Tree& tree, std::string_view key, const FieldRules&, bool& out, Diagnostics&);
bool read_value(const Tree& tree, std::string_view key, const FieldRules&, int& out, Diagnostics&);
bool read_value(const Tree& tree, std::string_view key, const FieldRules&, std::int64_t& out,
                Diagnostics&);
bool read_value(const Tree& tree, std::string_view key, const FieldRules&, double& out,
                Diagnostics&);
bool read_value(const Tree& tree, std::string_view key, const FieldRules&, std::string& out,
                Diagnostics&);
bool is_none(const Tree& tree);  ///< null or the string "NA"
void wrong_type(const Tree& tree, std::string_view key, std::string_view wanted, Diagnostics&);

// Declared before the overloads for optional values and lists, which call them.
template <FieldValue T>
bool read_value(const Tree& tree, std::string_view key, const FieldRules& rules, T& out,
                Diagnostics& diagnostics);
template <FieldValue T>
Tree write_value(const T& value);

template <class T>
bool read_value(const Tree& tree, std::string_view key, const FieldRules& rules,
                std::optional<T>& out, Diagnostics& diagnostics) {
  if (is_none(tree)) {
    out.reset();
    return true;
  }
  T value{};
  if (!read_value(tree, key, rules, value, diagnostics)) return false;
  out = std::move(value);
  return true;
}

template <class T>
bool read_value(const Tree& tree, std::string_view key, const FieldRules& rules,
                std::vector<T>& out, Diagnostics& diagnostics) {
  if (!tree.is_list()) {
    wrong_type(tree, key, "array", diagnostics);
    return false;
  }
  std::vector<T> values;
  bool good = true;
  for (const Tree& item : tree.as_list()) {
    T value{};
    good = read_value(item, key, rules, value, diagnostics) && good;
    values.push_back(std::move(value));
  }
  if (good) out = std::move(values);
  return good;
}

template <FieldValue T>
bool read_value(const Tree& tree, std::string_view key, const FieldRules& rules, T& out,
                Diagnostics& diagnostics) {
  return out.read_field(tree, key, rules, diagnostics);
}

inline Tree write_value(bool value) { return Tree(value); }
inline Tree write_value(int value) { return Tree(value); }
inline Tree write_value(std::int64_t value) { return Tree(value); }
inline Tree write_value(double value) { return Tree(value); }
inline Tree write_value(const std::string& value) { return Tree(value); }
template <class T>
Tree write_value(const std::optional<T>& value) {
  return value ? write_value(*value) : Tree("NA");
}
template <class T>
Tree write_value(const std::vector<T>& values) {
  Tree out = Tree::list();
  for (const T& value : values) out.push_back(write_value(value));
  return out;
}
template <FieldValue T>
Tree write_value(const T& value) {
  return value.write_field();
}

template <class T>
struct TypeName;
template <FieldValue T>
struct TypeName<T> {
  static std::string text() { return T::field_type(); }
};
template <>
struct TypeName<bool> {
  static std::string text() { return "bool"; }
};
template <>
struct TypeName<int> {
  static std::string text() { return "integer"; }
};
template <>
struct TypeName<std::int64_t> {
  static std::string text() { return "integer"; }
};
template <>
struct TypeName<double> {
  static std::string text() { return "number"; }
};
template <>
struct TypeName<std::string> {
  static std::string text() { return "string"; }
};
template <class T>
struct TypeName<std::optional<T>> : TypeName<T> {};
template <class T>
struct TypeName<std::vector<T>> {
  static std::string text() { return "list of " + TypeName<T>::text(); }
};
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

}  // namespace field_detail

/// T::fields(), made once on first use, since choices may come from a table.
template <Reflected T>
const auto& fields_of() {
  static const auto fields = T::fields();
  return fields;
}

/// Calls `visit(field)` for every field of T, in order.
template <Reflected T, class Visitor>
void for_each_field(Visitor&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, fields_of<T>());
}

/// Reports a key that is not in `allowed`, and suggests the nearest valid key.
void report_unknown_key(const Tree& entry, std::string_view key,
                        const std::vector<std::string>& allowed, Diagnostics& diagnostics);

namespace field_detail {

/// A field without its types, so that the functions below compile once and not for every struct.
struct AnyField {
  std::string_view name, doc;
  const FieldRules* rules;
  const void* field;  ///< Field<Struct, T>
  bool (*read)(const AnyField&, const Tree&, void* options, Diagnostics&);
  Tree (*write)(const AnyField&, const void* options);
  std::string (*type)();
  bool optional;
};

using AnyFields = std::span<const AnyField>;

template <class T, class Struct, class Value>
bool read_member(const AnyField& any, const Tree& tree, void* options, Diagnostics& diagnostics) {
  const auto& field = *static_cast<const Field<Struct, Value>*>(any.field);
  return read_value(tree, field.name, field.rules, static_cast<T*>(options)->*(field.member),
                    diagnostics);
}

template <class T, class Struct, class Value>
Tree write_member(const AnyField& any, const void* options) {
  const auto& field = *static_cast<const Field<Struct, Value>*>(any.field);
  return write_value(static_cast<const T*>(options)->*(field.member));
}

template <class T, class Struct, class Value>
AnyField any_field(const Field<Struct, Value>& field) {
  return {field.name,
          field.doc,
          &field.rules,
          &field,
          read_member<T, Struct, Value>,
          write_member<T, Struct, Value>,
          TypeName<Value>::text,
          is_optional<Value>};
}

template <Reflected T>
AnyFields any_fields() {
  static const auto fields = std::apply(
      [](const auto&... field) {
        return std::array<AnyField, sizeof...(field)>{any_field<T>(field)...};
      },
      fields_of<T>());
  return fields;
}

std::vector<std::string> names(AnyFields fields);
void read(AnyFields fields, const Tree& table, void* options, Diagnostics& diagnostics,
          const std::vector<std::string>& other_keys);
Tree write(AnyFields fields, const void* options);
std::vector<FieldInfo> describe(AnyFields fields, const void* defaults);

}  // namespace field_detail

template <Reflected T>
std::vector<std::string> field_names() {
  return field_detail::names(field_detail::any_fields<T>());
}

/// Reads `table` (a dict) into `out`. Every problem (an unknown key, a wrong type, a value out of
/// range or not allowed) becomes a diagnostic at its place; the members concerned keep their value.
/// Keys in `other_keys` are left to the caller.
template <Reflected T>
void read_fields(const Tree& table, T& out, Diagnostics& diagnostics,
                 const std::vector<std::string>& other_keys = {}) {
  field_detail::read(field_detail::any_fields<T>(), table, &out, diagnostics, other_keys);
}

/// The struct as a dict with every field; a field without a value is written as "NA".
template <Reflected T>
Tree write_fields(const T& options) {
  return field_detail::write(field_detail::any_fields<T>(), &options);
}

/// The documentation of every field of T, with the defaults of a default-constructed T.
template <Reflected T>
std::vector<FieldInfo> describe_fields() {
  const T defaults{};
  return field_detail::describe(field_detail::any_fields<T>(), &defaults);
}

}  // namespace mase
