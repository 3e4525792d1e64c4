// SPDX-License-Identifier: Apache-2.0
// Parameters by name, from fields and back.
#include "hardware/design/module_parameters.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace mase::design {
namespace {

/// The value, which must be a T.
template <class T>
const T& value_as(const ParameterValue& from, std::string_view name, const char* kind) {
  const auto* value = std::get_if<T>(&from);
  MASE_CHECK(value, "hardware parameter " + std::string(name) + " is not " + kind);
  return *value;
}

}  // namespace

bool Sized::read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                       Diagnostics& diagnostics) {
  std::int64_t number = 0;
  if (!field_detail::read_value(tree, key, rules, number, diagnostics)) return false;
  value = number;
  return true;
}

Tree Sized::write_field() const { return Tree(integer::wide_text(value)); }

std::string Sized::field_type() { return "bits"; }

bool HexBits::read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                         Diagnostics& diagnostics) {
  return field_detail::read_value(tree, key, rules, digits, diagnostics);
}

Tree HexBits::write_field() const { return Tree(digits); }

std::string HexBits::field_type() { return "hexadecimal digits"; }

namespace parameter_detail {

void read(const ParameterValue& from, std::string_view name, std::int64_t& value) {
  value = value_as<std::int64_t>(from, name, "an integer");
}

void read(const ParameterValue& from, std::string_view name, int& value) {
  value = static_cast<int>(value_as<std::int64_t>(from, name, "an integer"));
}

void read(const ParameterValue& from, std::string_view name, bool& value) {
  value = value_as<std::int64_t>(from, name, "a flag") != 0;
}

void read(const ParameterValue& from, std::string_view name, Sized& value) {
  if (const auto* number = std::get_if<std::int64_t>(&from))
    value.value = *number;
  else
    value = value_as<Sized>(from, name, "a number");
}

void read(const ParameterValue& from, std::string_view name, HexBits& value) {
  value = value_as<HexBits>(from, name, "bits");
}

void read(const ParameterValue& from, std::string_view name, std::string& value) {
  value = value_as<std::string>(from, name, "a text");
}

const ParameterValue* find(const ModuleParameters& parameters, std::string_view name) {
  const auto it = std::ranges::find(
      parameters, name, [](const auto& item) -> std::string_view { return item.first; });
  return it == parameters.end() ? nullptr : &it->second;
}

void check(const ModuleParameters& parameters, field_detail::AnyFields fields) {
  for (const auto& [name, value] : parameters) {
    const auto field = std::ranges::find(fields, name, &field_detail::AnyField::name);
    MASE_CHECK(field != fields.end(), "the module has no hardware parameter " + name);
    const auto* number = std::get_if<std::int64_t>(&value);
    if (!number) continue;
    const auto at = static_cast<double>(*number);
    MASE_CHECK(at >= field->rules->low && at <= field->rules->high,
               "hardware parameter " + name + " cannot be " + std::to_string(*number));
  }
}

}  // namespace parameter_detail

}  // namespace mase::design
