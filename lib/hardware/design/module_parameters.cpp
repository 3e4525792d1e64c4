// SPDX-License-Identifier: Apache-2.0
// Parameters by name and as fields.
#include "hardware/design/module_parameters.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace mase::design {
namespace {

const ParameterValue& get(const ModuleParameters& parameters, std::string_view name) {
  const ParameterValue* value = parameters.find(name);
  MASE_CHECK(value, "no hardware parameter " + std::string(name));
  return *value;
}

/// The value, which must be a T.
template <class T>
const T& value_as(const ParameterValue& from, std::string_view name, const char* kind) {
  const auto* value = std::get_if<T>(&from);
  MASE_CHECK(value, "hardware parameter " + std::string(name) + " is not " + kind);
  return *value;
}

}  // namespace

ModuleParameters& ModuleParameters::set(std::string name, ParameterValue value) {
  for (auto& [key, old] : items_) {
    if (key != name) continue;
    old = std::move(value);
    return *this;
  }
  items_.emplace_back(std::move(name), std::move(value));
  return *this;
}

ModuleParameters& ModuleParameters::append(const ModuleParameters& more) {
  for (const auto& [name, value] : more.items()) set(name, value);
  return *this;
}

const ParameterValue* ModuleParameters::find(std::string_view name) const {
  const auto it = std::find_if(items_.begin(), items_.end(),
                               [&](const auto& item) { return item.first == name; });
  return it == items_.end() ? nullptr : &it->second;
}

std::int64_t ModuleParameters::integer(std::string_view name) const {
  return value_as<std::int64_t>(get(*this, name), name, "an integer");
}

Wide ModuleParameters::wide(std::string_view name) const {
  const ParameterValue& value = get(*this, name);
  if (const auto* sized = std::get_if<Sized>(&value)) return sized->value;
  return integer(name);
}

const std::string& ModuleParameters::text(std::string_view name) const {
  return value_as<std::string>(get(*this, name), name, "a text");
}

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

void check_bounds(const ModuleParameters& parameters, field_detail::AnyFields fields) {
  for (const auto& field : fields) {
    const ParameterValue* value = parameters.find(field.name);
    const auto* number = value ? std::get_if<std::int64_t>(value) : nullptr;
    if (!number) continue;
    const auto at = static_cast<double>(*number);
    MASE_CHECK(
        at >= field.rules->low && at <= field.rules->high,
        "hardware parameter " + std::string(field.name) + " cannot be " + std::to_string(*number));
  }
}

void check_names(const ModuleParameters& parameters, field_detail::AnyFields fields) {
  for (const auto& [name, value] : parameters.items())
    MASE_CHECK(std::ranges::find(fields, name, &field_detail::AnyField::name) != fields.end(),
               "the module has no hardware parameter " + name);
}

}  // namespace parameter_detail

}  // namespace mase::design
