// SPDX-License-Identifier: Apache-2.0
// Cost: the resources that hardware takes of an FPGA, as predicted and as counted.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "base/tree.hpp"

namespace mase::design {

struct Design;
struct Instance;

/// Resources of a 7-series part. `carry` counts CARRY4, `bram` RAMB36 (a RAMB18 is one half).
struct Cost {
  double lut = 0, ff = 0, carry = 0, dsp = 0, bram = 0;
  Cost& operator+=(const Cost& other);
};
/// One resource: its name, and that of the cells which are counted.
struct Resource {
  std::string_view name, cell;
  double Cost::*amount;
};
inline constexpr std::array<Resource, 5> resources{{{"lut", "lut", &Cost::lut},
                                                    {"ff", "ff", &Cost::ff},
                                                    {"carry", "carry4", &Cost::carry},
                                                    {"dsp", "dsp", &Cost::dsp},
                                                    {"bram", "ramb36", &Cost::bram}}};

/// {"lut": 12, ...}, by names or by cells.
Tree cost_tree(const Cost& cost, std::string_view Resource::*name = &Resource::name);
/// `count` times the same.
Cost scaled(Cost cost, double count);

/// Predicted by the instance's module.
Cost instance_cost(const Design& design, const Instance& instance);
/// The cost of all instances.
Cost cost(const Design& design);
/// The cost of the instances on a device.
Cost device_cost(const Design& design, int device);
/// By instance name.
std::map<std::string, Cost> cost_by_instance(const Design& design);

}  // namespace mase::design
