// SPDX-License-Identifier: Apache-2.0
// Parameters of a hardware module instance: what stands between `#(` and `)` in the emitted text. A
// module's struct declares them as fields; its instances keep them by name.
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

/// Values by name; small, so looked up one after another.
class ModuleParameters {
 public:
  ModuleParameters() = default;
  ModuleParameters(std::initializer_list<std::pair<std::string, ParameterValue>> items)
      : items_(items) {}

  ModuleParameters& set(std::string name, ParameterValue value);  ///< adds or replaces
  ModuleParameters& append(const ModuleParameters& more);
  const ParameterValue* find(std::string_view name) const;  ///< null when absent
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  std::int64_t integer(std::string_view name) const;  ///< internal error when absent or no integer
  Wide wide(std::string_view name) const;             ///< of an integer or Sized
  const std::string& text(std::string_view name) const;
  const std::vector<std::pair<std::string, ParameterValue>>& items() const { return items_; }

 private:
  std::vector<std::pair<std::string, ParameterValue>> items_;  ///< in the order of printing
};

namespace parameter_detail {

// What a field is as a parameter: a bool is 0 or 1, and a number of bits that is given as an
// integer has the width that the field says.
inline void write(ModuleParameters& to, std::string_view name, std::int64_t value) {
  to.set(std::string(name), value);
}
inline void write(ModuleParameters& to, std::string_view name, int value) {
  write(to, name, std::int64_t{value});
}
inline void write(ModuleParameters& to, std::string_view name, bool value) {
  write(to, name, std::int64_t{value ? 1 : 0});
}
inline void write(ModuleParameters& to, std::string_view name, const Sized& value) {
  to.set(std::string(name), value);
}
inline void write(ModuleParameters& to, std::string_view name, const HexBits& value) {
  to.set(std::string(name), value);
}
inline void write(ModuleParameters& to, std::string_view name, const std::string& value) {
  to.set(std::string(name), value);
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

/// Internal error for a number beyond the bounds of its field.
void check_bounds(const ModuleParameters& parameters, field_detail::AnyFields fields);
/// Internal error for a parameter that is not among the fields.
void check_names(const ModuleParameters& parameters, field_detail::AnyFields fields);

}  // namespace parameter_detail

/// The fields of a module as parameters, in their order, without those that have no
/// value.
template <Reflected T>
ModuleParameters write_parameters(const T& module) {
  ModuleParameters parameters;
  for_each_field<T>([&](const auto& field) {
    parameter_detail::write(parameters, field.name, module.*(field.member));
  });
  parameter_detail::check_bounds(parameters, field_detail::any_fields<T>());
  return parameters;
}

/// A module from all of its parameters. What is absent keeps its default, as it does in
/// SystemVerilog.
template <Reflected T>
T read_parameters(const ModuleParameters& parameters) {
  parameter_detail::check_names(parameters, field_detail::any_fields<T>());
  T module{};
  for_each_field<T>([&](const auto& field) {
    if (const ParameterValue* value = parameters.find(field.name))
      parameter_detail::read(*value, field.name, module.*(field.member));
  });
  return module;
}

}  // namespace mase::design
