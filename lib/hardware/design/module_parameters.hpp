// SPDX-License-Identifier: Apache-2.0
// Parameters of a hardware module instance: what stands between `#(` and `)` in the emitted text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hardware/integer/fixed.hpp"

namespace mase::design {

using integer::Wide;

/// A vector constant of a stated width, printed as a sized literal (`-8'sd3`, `12'd7`).
struct Sized {
  Wide value = 0;
  int width = 1;
  bool is_signed = true;
  bool operator==(const Sized&) const = default;
};

/// Bits as hex digits, most significant first: for constants wider than Sized holds.
struct HexBits {
  std::string digits;
  std::int64_t width = 1;
  bool operator==(const HexBits&) const = default;
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
  bool contains(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;  ///< internal error when absent or no integer
  Wide wide(std::string_view name) const;             ///< of an integer or Sized
  const std::string& text(std::string_view name) const;
  const std::vector<std::pair<std::string, ParameterValue>>& items() const { return items_; }

 private:
  std::vector<std::pair<std::string, ParameterValue>> items_;  ///< in the order of printing
};

/// OW, SHIFT, DIVISOR, ROUND (0 floor, 1 nearest even), LOW, HIGH of
/// hw_templates/elementwise/mase_requantise_stage.
ModuleParameters requantise_parameters(const integer::Requantise& requantise,
                                       const integer::FixedType& to);

}  // namespace mase::design
