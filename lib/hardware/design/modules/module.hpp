// SPDX-License-Identifier: Apache-2.0
// Structs as hardware modules: the row and the module that follow from one.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "hardware/design/module.hpp"
#include "hardware/design/module_table.hpp"

namespace mase::design {

struct StepRow;

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
    all.push_back({module, lut_and_carry, dsp, bram});
  return all;
}

/// The row of a module, which `row` begins: folder, sentence, parts and ports.
template <HardwareModule T>
ModuleRow row_of_module(ModuleRow row) {
  row.name = T::module_name;
  row.parameters = describe_fields<T>;
  row.read = [](const ModuleParameters& parameters) -> Module {
    return read_parameters<T>(parameters);
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

/// The fields as they are printed. Where a host writes images is said last, in the order of the
/// addresses.
template <HardwareModule T>
ModuleParameters printed_parameters(T module) {
  ModuleParameters parameters = write_parameters(module);
  if constexpr (requires { module.host_images(); }) {
    const std::vector<HostImage> images = module.host_images();
    const auto given = std::ranges::count_if(
        images, [](const HostImage& image) { return image.base->has_value(); });
    std::ranges::stable_sort(parameters.end() - given, parameters.end(), {},
                             [](const auto& item) { return std::get<std::int64_t>(item.second); });
  }
  return parameters;
}

template <HardwareModule T>
class ModuleOf final : public ModuleBase {
 public:
  explicit ModuleOf(T module) : module_(std::move(module)) {}
  const T& get() const { return module_; }

  std::unique_ptr<ModuleBase> copy() const override { return std::make_unique<ModuleOf>(module_); }
  const ModuleRow& row() const override {
    static const ModuleRow row = T::row();
    return row;
  }
  ModuleParameters parameters() const override { return printed_parameters(module_); }
  std::unique_ptr<Handshake> handshake(Stages kept) const override {
    return module_.handshake(kept);
  }
  Cost cost(const Design& design) const override { return module_.cost(design); }
  Paths paths(const Technology& technology) const override { return module_.paths(technology); }
  std::vector<HostImage> host_images() override {
    if constexpr (requires { module_.host_images(); }) return module_.host_images();
    return {};
  }

 private:
  T module_;
};

template <HardwareModule T>
Module::Module(T module) : held_(std::make_unique<ModuleOf<T>>(std::move(module))) {}

template <HardwareModule T>
const T* Module::as() const {
  const auto* held = dynamic_cast<const ModuleOf<T>*>(held_.get());
  return held ? &held->get() : nullptr;
}

template <HardwareModule T>
bool is_a(const Instance& instance) {
  return instance.module.as<T>() != nullptr;
}

/// The module of an instance; internal error when it is another one.
template <HardwareModule T>
const T& module_of(const Instance& instance) {
  const T* module = instance.module.as<T>();
  MASE_CHECK(module, instance.name + " is another module");
  return *module;
}

}  // namespace mase::design
