// SPDX-License-Identifier: Apache-2.0
// Which device computes which nodes: as the user says, as the metadata says, or balanced.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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

/// What a user may say of devices and of the links between them.
struct DeviceOptions {
  DeviceChoice devices;
  std::vector<std::int64_t> device_lut, device_dsp, device_bram;
  std::optional<std::int64_t> link_latency, link_width, link_interval;
  static constexpr auto fields() {
    return std::tuple{
        Field{"devices", &DeviceOptions::devices,
              "devices that share the nodes: how many, or the device of every node by name, in "
              "which * is any text; 0: as the nodes have them"}
            .rare(),
        Field{"device_lut", &DeviceOptions::device_lut,
              "LUTs of every device, at most: one number for all, or one for each; [] for no bound"}
            .at_least(0)
            .rare(),
        Field{"device_dsp", &DeviceOptions::device_dsp, "DSP blocks, in the same way"}
            .at_least(0)
            .rare(),
        Field{"device_bram", &DeviceOptions::device_bram, "RAMB36 blocks, in the same way"}
            .at_least(0)
            .rare(),
        Field{"link_latency", &DeviceOptions::link_latency,
              "cycles of a beat between the ports of two devices; NA: as the model has it, or 16"}
            .between(1, 100000)
            .rare(),
        Field{"link_width", &DeviceOptions::link_width,
              "bits of a link's TDATA, in whole bytes: wider beats leave in several words; NA: as "
              "the model has it, or 0, which is those of a beat"}
            .between(0, 8192)
            .rare(),
        Field{"link_interval", &DeviceOptions::link_interval,
              "cycles in which a link takes a word; NA: as the model has it, or 1"}
            .between(1, 1000)
            .rare()};
  }
};
/// Adds what is wrong with the options to the diagnostics; `tree` has their places.
void check_devices(const DeviceOptions& options, const Tree& tree, Diagnostics& diagnostics);

/// The devices that the metadata of nodes names, and the links that the output node has.
Distribution stored_distribution(const ir::Graph& graph);
/// Takes what the options say of links in place of what was there.
void set_links(const DeviceOptions& options, LinkSettings& links);
/// The settings of links under the names of their options.
void write_links(const LinkSettings& links, Tree& tree);
/// Keeps the settings of links, where there are some.
void store_links(ir::Graph& graph, const Design& design);

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
