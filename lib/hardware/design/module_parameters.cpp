// SPDX-License-Identifier: Apache-2.0
// Parameters by name, and the shared group of the requantiser.
#include "hardware/design/module_parameters.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace mase::design {
namespace {

const ParameterValue& get(const ModuleParameters& parameters, std::string_view name) {
  const auto& items = parameters.items();
  const auto it = std::find_if(items.begin(), items.end(),
                               [&](const auto& item) { return item.first == name; });
  MASE_CHECK(it != items.end(), "no hardware parameter " + std::string(name));
  return it->second;
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

bool ModuleParameters::contains(std::string_view name) const {
  return std::any_of(items_.begin(), items_.end(),
                     [&](const auto& item) { return item.first == name; });
}

std::int64_t ModuleParameters::integer(std::string_view name) const {
  const auto* value = std::get_if<std::int64_t>(&get(*this, name));
  MASE_CHECK(value, "hardware parameter " + std::string(name) + " is not an integer");
  return *value;
}

Wide ModuleParameters::wide(std::string_view name) const {
  const ParameterValue& value = get(*this, name);
  if (const auto* sized = std::get_if<Sized>(&value)) return sized->value;
  return integer(name);
}

const std::string& ModuleParameters::text(std::string_view name) const {
  const auto* value = std::get_if<std::string>(&get(*this, name));
  MASE_CHECK(value, "hardware parameter " + std::string(name) + " is not a text");
  return *value;
}

ModuleParameters requantise_parameters(const integer::Requantise& requantise,
                                       const integer::FixedType& to) {
  const std::int64_t round = requantise.rounding == formats::Rounding::nearest_even ? 1 : 0;
  return {{"OW", std::int64_t{to.width}},           {"SHIFT", std::int64_t{requantise.shift}},
          {"DIVISOR", requantise.divisor},          {"ROUND", round},
          {"LOW", Sized{requantise.low, 64, true}}, {"HIGH", Sized{requantise.high, 64, true}}};
}

}  // namespace mase::design
