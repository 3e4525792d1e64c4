// SPDX-License-Identifier: Apache-2.0
// Which device computes which nodes: as the user says, as the metadata says, or balanced.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/field.hpp"
#include "hardware/design/design.hpp"
#include "ir/graph.hpp"

namespace mase::design {

/// What a user says of devices: how many share the layers, or the device of nodes by name.
struct DeviceChoice {
  std::int64_t count = 0;  ///< 0: as the nodes say
  /// The first pattern that matches holds; `*` is any text.
  std::vector<std::pair<std::string, int>> patterns;

  bool empty() const { return count == 0 && patterns.empty(); }
  bool read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                  Diagnostics& diagnostics);
  Tree write_field() const;
  static std::string field_type();
};

/// The devices that the metadata of nodes names, and the latency that the output node has.
Distribution stored_distribution(const ir::Graph& graph);
/// Keeps the latency of links, where there are some.
void store_link_latency(ir::Graph& graph, const Design& design);

/// The devices of nodes by the names of a choice. Error(Fault::config) for a pattern that names
/// nothing, and for the name of a node that another one computes.
void name_devices(const ir::Graph& graph, const integer::Program& program,
                  const DeviceChoice& choice, Distribution& distribution);

/// A layer without a device gets that of what it reads, or that of the first layer that has one.
void complete(const integer::Program& program, Distribution& distribution);

/// The device of every node: its own, that of what it reads, or that of what reads it. Nothing
/// where no node has a device.
std::map<std::string, int> devices_of_nodes(const ir::Graph& graph, const Design& design);

}  // namespace mase::design
