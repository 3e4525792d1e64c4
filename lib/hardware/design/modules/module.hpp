// SPDX-License-Identifier: Apache-2.0
// A hardware module as a type: its parameters are the struct's fields, and the struct says what a
// design has to know. From it follow the module's row and its instances.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/field.hpp"
#include "hardware/design/module_table.hpp"

namespace mase::design {

struct StepRow;

/// What the struct of a module declares beside its fields. These have the names and the defaults of
/// its file of hw_templates, and the order in which instances print them.
template <class T>
concept HardwareModule = Reflected<T> &&
    requires(const T& module, const Design& design, const Technology& technology) {
  { T::module_name } -> std::convertible_to<std::string_view>;
  { module.handshake(Stages::all) } -> std::same_as<std::unique_ptr<Handshake>>;
  { module.cost(design) } -> std::same_as<Cost>;
  { module.paths(technology) } -> std::same_as<Paths>;
};

/// What Yosys counts of a module. Where a struct declares a list of these as `measured()`, a test
/// compares its cost with them, and scripts/bench/calibrate.py measures them anew. A memory image
/// is "32x8" there, its words and their bits, and has random words.
template <class T>
struct Measured {
  T module;
  double lut_and_carry = 0, dsp = 0, bram = 0;
};
template <class T>
concept MeasuredModule = requires {
  { T::measured() } -> std::same_as<std::vector<Measured<T>>>;
};
template <class T>
std::vector<Measurement> measurements(const std::vector<Measured<T>>& measured) {
  std::vector<Measurement> all;
  for (const auto& [module, lut_and_carry, dsp, bram] : measured)
    all.push_back({write_parameters(module), lut_and_carry, dsp, bram});
  return all;
}

/// The row of a module, which `row` begins: folder, sentence, parts and ports.
template <HardwareModule T>
ModuleRow row_of_module(ModuleRow row) {
  row.name = T::module_name;
  row.parameters = describe_fields<T>;
  row.handshake = [](const ModuleParameters& parameters, Stages kept) {
    return read_parameters<T>(parameters).handshake(kept);
  };
  row.cost = [](const Design& design, const Instance& instance) {
    return read_parameters<T>(instance.parameters).cost(design);
  };
  row.paths = [](const Instance& instance, const Technology& technology) {
    return read_parameters<T>(instance.parameters).paths(technology);
  };
  if constexpr (MeasuredModule<T>) row.measured = [] { return measurements(T::measured()); };
  return row;
}

/// The parameter of modules that multiply with something that can be built in several ways.
template <class T>
constexpr auto multiplier_field(int T::*member) {
  return Field{"MULTIPLIER", member,
               "0: what the tool infers, 1: a DSP block, 2: Booth rows in fabric"}
      .between(0, 2);
}

template <HardwareModule T>
Instance instance_of(std::string name, std::string layer, const T& module,
                     std::vector<StreamId> inputs, std::vector<StreamId> outputs) {
  return {std::move(name),          std::string(T::module_name), std::move(layer),
          write_parameters(module), std::move(inputs),           std::move(outputs)};
}

template <HardwareModule T>
bool is_a(const Instance& instance) {
  return instance.module == T::module_name;
}

/// The module of an instance; internal error when it is another one.
template <HardwareModule T>
T module_of(const Instance& instance) {
  MASE_CHECK(is_a<T>(instance), instance.name + " is another module");
  return read_parameters<T>(instance.parameters);
}

}  // namespace mase::design
