// SPDX-License-Identifier: Apache-2.0
// Parameters of a hardware module as they are printed: what stands between `#(` and `)` in the
// emitted text. The module's struct declares them as fields, and only here are they named by text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/field.hpp"
#include "hardware/integer/fixed.hpp"

namespace mase::design {

using integer::Wide;

/// A vector constant of a stated width, printed as a sized literal (`-8'sd3`, `12'd7`).
struct Sized {
  Wide value = 0;
  int width = 1;
  bool is_signed = true;
  bool operator==(const Sized&) const = default;

  bool read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                  Diagnostics& diagnostics);
  Tree write_field() const;  ///< a decimal number as text, since it may be wider than 64 bits
  static std::string field_type();
};

/// Bits as hex digits, most significant first: for constants wider than Sized holds.
struct HexBits {
  std::string digits;
  std::int64_t width = 1;
  bool operator==(const HexBits&) const = default;

  bool read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                  Diagnostics& diagnostics);
  Tree write_field() const;
  static std::string field_type();
};

/// A file name of a memory image is a string.
using ParameterValue = std::variant<std::int64_t, Sized, HexBits, std::string>;

/// Values by name, in the order in which they are printed.
using ModuleParameters = std::vector<std::pair<std::string, ParameterValue>>;

namespace parameter_detail {

// What a field is as a parameter: a bool is 0 or 1, and a number of bits that is given as an
// integer has the width that the field says.
inline void write(ModuleParameters& to, std::string_view name, std::int64_t value) {
  to.emplace_back(name, value);
}
inline void write(ModuleParameters& to, std::string_view name, int value) {
  write(to, name, std::int64_t{value});
}
inline void write(ModuleParameters& to, std::string_view name, bool value) {
  write(to, name, std::int64_t{value ? 1 : 0});
}
inline void write(ModuleParameters& to, std::string_view name, const Sized& value) {
  to.emplace_back(name, value);
}
inline void write(ModuleParameters& to, std::string_view name, const HexBits& value) {
  to.emplace_back(name, value);
}
inline void write(ModuleParameters& to, std::string_view name, const std::string& value) {
  to.emplace_back(name, value);
}
template <class T>
void write(ModuleParameters& to, std::string_view name, const std::optional<T>& value) {
  if (value) write(to, name, *value);
}

// Internal errors for values of another kind.
void read(const ParameterValue& from, std::string_view name, std::int64_t& value);
void read(const ParameterValue& from, std::string_view name, int& value);
void read(const ParameterValue& from, std::string_view name, bool& value);
void read(const ParameterValue& from, std::string_view name, Sized& value);
void read(const ParameterValue& from, std::string_view name, HexBits& value);
void read(const ParameterValue& from, std::string_view name, std::string& value);
template <class T>
void read(const ParameterValue& from, std::string_view name, std::optional<T>& value) {
  read(from, name, value.emplace());
}

/// Null when absent.
const ParameterValue* find(const ModuleParameters& parameters, std::string_view name);
/// Internal error for a parameter that is not among the fields, and for a number beyond the bounds
/// of its field.
void check(const ModuleParameters& parameters, field_detail::AnyFields fields);

}  // namespace parameter_detail

/// The fields of a module as parameters, in their order, without those that have no value.
template <Reflected T>
ModuleParameters write_parameters(const T& module) {
  ModuleParameters parameters;
  for_each_field<T>([&](const auto& field) {
    parameter_detail::write(parameters, field.name, module.*(field.member));
  });
  parameter_detail::check(parameters, field_detail::any_fields<T>());
  return parameters;
}

/// A module from all of its parameters. What is absent keeps its default, as it does in
/// SystemVerilog.
template <Reflected T>
T read_parameters(const ModuleParameters& parameters) {
  parameter_detail::check(parameters, field_detail::any_fields<T>());
  T module{};
  for_each_field<T>([&](const auto& field) {
    if (const ParameterValue* value = parameter_detail::find(parameters, field.name))
      parameter_detail::read(*value, field.name, module.*(field.member));
  });
  return module;
}

}  // namespace mase::design
