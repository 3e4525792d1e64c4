// SPDX-License-Identifier: Apache-2.0
// Scope: some instances of a design as one module, with the streams at its border.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hardware/emit/text/names.hpp"
#include "hardware/emit/text/verilog.hpp"

namespace mase::emit {

/// A module of instances. The streams at its border have valid, ready and data, or are links to
/// other devices with the signals of an AXI4-Stream.
struct Scope {
  std::string name, comment;
  std::vector<design::StreamId> inputs, outputs;
  std::vector<design::StreamId> link_inputs, link_outputs;
  std::vector<std::size_t> instances;  ///< ascending
};

/// Three signals a stream, an instance each, ports by the module table.
verilog::Module module_of_scope(const design::Design& design, const Names& names,
                                const Scope& scope);

/// Ports for valid, ready and data of the streams; lines about these go to the module's comment.
void add_stream_ports(const design::Design& design, const Names& names,
                      const std::vector<design::StreamId>& ids, verilog::Direction direction,
                      verilog::Module& module);
/// The port `reload` of a design whose weights a host may replace.
void add_reload_port(const design::Design& design, verilog::Module& module);

/// The instance `index` of a design, connected to signals that are named after its streams.
verilog::Instance plain_instance(const design::Design& design, const Names& names,
                                 std::size_t index);
/// The nets of a stream.
void add_nets(const design::Design& design, const Names& names, design::StreamId id,
              verilog::Module& module);

/// The signals of a link, as its ports end.
inline constexpr const char* link_signals[] = {"tvalid", "tready", "tdata", "tlast"};
/// Begins the names of a link's ports: m_axis_<stream> where it leaves a device.
std::string link_prefix(const Names& names, design::StreamId id, bool leaves);
/// Bits of the TDATA of a link.
std::int64_t link_tdata(const design::Design& design, design::StreamId id);

}  // namespace mase::emit
