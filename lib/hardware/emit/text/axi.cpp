// SPDX-License-Identifier: Apache-2.0
// The AXI wrapper: the usual port names, clock and active-low reset around the plain top, streams
// through adapters, and registers.
#include "hardware/emit/text/axi.hpp"

#include <bit>

#include "base/file.hpp"
#include "base/text.hpp"
#include "hardware/design/reload_map.hpp"
#include "hardware/emit/text/top.hpp"

namespace mase::emit {
namespace {

using verilog::Direction;

struct Wrapper {
  const design::Design& design;
  const Names& names;
  const Scope& scope;
  const EmitOptions& options;
  verilog::Module module;
  verilog::Instance core, control;
  std::vector<std::string> errors;

  const std::string& name(design::StreamId id) const {
    return names.streams[static_cast<std::size_t>(id)];
  }
  void add_port(Direction direction, const std::string& port, std::int64_t width = 0) {
    module.ports.push_back({direction, port, width > 0 ? width : 1, width == 0});
  }
  void add_net(const std::string& net, std::int64_t width = 0) {
    module.items.emplace_back(verilog::Net{net, width > 0 ? width : 1, width == 0});
  }
};

std::int64_t whole_bytes(std::int64_t bits) { return (bits + 7) / 8; }
std::int64_t power_of_two(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(value)));
}

/// Signals between an adapter and the core.
void add_link(Wrapper& wrapper, const std::string& name, std::int64_t width) {
  wrapper.add_net(name + "_valid");
  wrapper.add_net(name + "_ready");
  wrapper.add_net(name + "_data", width);
  for (const char* part : {"_valid", "_ready", "_data"})
    wrapper.core.connections.emplace_back(name + part, name + part);
}

/// Whether a list begins with the stream.
bool is_first(const std::vector<design::StreamId>& ids, design::StreamId id) {
  return !ids.empty() && ids.front() == id;
}

/// High when a frame of the stream has passed. On each side the first stream's frames are counted.
std::string frame_net(const Wrapper& wrapper, design::StreamId id) {
  const bool counted = is_first(wrapper.scope.inputs, id) || is_first(wrapper.scope.outputs, id);
  return (counted ? "" : "unused_") + wrapper.name(id) + "_frame";
}

/// An adapter between the wrapper's ports of a stream and the core's.
verilog::Instance adapter(Wrapper& wrapper, design::StreamId id, bool input) {
  const design::Stream& stream = wrapper.design.stream(id);
  const AxiLayout layout = axi_layout(stream, wrapper.options);
  const std::string& name = wrapper.name(id);
  const Direction forth = input ? Direction::input : Direction::output;
  const Direction back = input ? Direction::output : Direction::input;
  const std::string port = axi_prefix(wrapper.names, id, input);
  wrapper.add_port(forth, port + "_tvalid");
  wrapper.add_port(back, port + "_tready");
  wrapper.add_port(forth, port + "_tdata", 8 * layout.bytes);
  wrapper.add_port(forth, port + "_tkeep", layout.bytes);
  wrapper.add_port(forth, port + "_tlast");
  add_link(wrapper, name, stream.width());
  const std::string frame = frame_net(wrapper, id);
  wrapper.add_net(frame);
  verilog::Instance instance{input ? "mase_axi_stream_input" : "mase_axi_stream_output",
                             name + "_adapter",
                             {{"LANES", std::to_string(stream.lanes)},
                              {"DW", std::to_string(stream.type.width)},
                              {"LANE", std::to_string(layout.lane_bits)},
                              {"TW", std::to_string(8 * layout.bytes)},
                              {"BEATS", std::to_string(stream.beats())}},
                             {{"clk", "aclk"}, {"rst", "rst"}, {"frame", frame}}};
  for (const std::string signal : stream_signals)
    instance.connections.emplace_back((input ? "s_axis_" : "m_axis_") + signal,
                                      port + "_" + signal);
  for (const char* part : {"_valid", "_ready", "_data"})
    instance.connections.emplace_back((input ? "out" : "in") + std::string(part), name + part);
  return instance;
}

void add_input(Wrapper& wrapper, design::StreamId id) {
  verilog::Instance instance = adapter(wrapper, id, true);
  const std::string error = wrapper.name(id) + "_error";
  wrapper.add_net(error);
  wrapper.errors.push_back(error);
  instance.connections.emplace_back("error", error);
  wrapper.module.items.emplace_back(instance);
}

void add_output(Wrapper& wrapper, design::StreamId id) {
  verilog::Instance instance = adapter(wrapper, id, false);
  instance.parameters.emplace_back("SIGNED", wrapper.design.stream(id).type.is_signed ? "1" : "0");
  instance.connections.emplace_back("frames", "frames");
  instance.connections.emplace_back("restart", "restart");
  wrapper.module.items.emplace_back(instance);
}

/// The ports of a link, passed through to the core.
void pass_link(Wrapper& wrapper, design::StreamId id, bool leaves) {
  const std::string prefix = link_prefix(wrapper.names, id, leaves);
  const Direction forth = leaves ? Direction::output : Direction::input;
  const Direction back = leaves ? Direction::input : Direction::output;
  wrapper.add_port(forth, prefix + "_tvalid");
  wrapper.add_port(back, prefix + "_tready");
  wrapper.add_port(forth, prefix + "_tdata", link_tdata(wrapper.design, id));
  wrapper.add_port(forth, prefix + "_tlast");
  for (const char* signal : link_signals)
    wrapper.core.connections.emplace_back(prefix + "_" + signal, prefix + "_" + signal);
}

/// High when a frame has passed a side: its first stream, or else its first link; 0 without both.
std::string frame_of_side(const Wrapper& wrapper, const std::vector<design::StreamId>& streams,
                          const std::vector<design::StreamId>& links, bool leaves) {
  if (!streams.empty()) return frame_net(wrapper, streams.front());
  if (links.empty()) return "1'b0";
  const std::string prefix = link_prefix(wrapper.names, links.front(), leaves);
  return prefix + "_tvalid && " + prefix + "_tready && " + prefix + "_tlast";
}

/// What the registers tell the outputs; nobody listens where there are none.
std::string told(const Wrapper& wrapper, const std::string& net) {
  return (wrapper.scope.outputs.empty() ? "unused_" : "") + net;
}

/// The five channels of AXI4-Lite, passed through to the registers.
void add_registers(Wrapper& wrapper) {
  for (const RegisterSignal& signal : register_signals) {
    const std::string port = std::string("s_axi_control_") + signal.name;
    wrapper.add_port(signal.input ? Direction::input : Direction::output, port, signal.width);
    wrapper.control.connections.emplace_back(std::string("s_axi_") + signal.name, port);
  }
  wrapper.add_net("areset");
  wrapper.module.items.emplace_back(verilog::Assign{"areset", "!aresetn"});
  wrapper.add_net("rst");
  for (const auto& [net, width] : {std::pair{"frames", 32}, {"restart", 0}}) {
    wrapper.add_net(told(wrapper, net), width);
    wrapper.control.connections.emplace_back(net, told(wrapper, net));
  }
  if (!wrapper.design.reloadable) return;
  wrapper.add_net("reload", design::reload_bits);
  for (verilog::Instance* instance : {&wrapper.control, &wrapper.core})
    instance->connections.emplace_back("reload", "reload");
}

void finish_registers(Wrapper& wrapper) {
  verilog::Instance& control = wrapper.control;
  const Scope& scope = wrapper.scope;
  if (wrapper.errors.empty()) wrapper.errors.emplace_back("1'b0");
  control.parameters.insert(control.parameters.begin(),
                            {"INPUTS", std::to_string(wrapper.errors.size())});
  control.connections.emplace_back("errors", verilog::concatenation(wrapper.errors));
  control.connections.emplace_back("frame_in",
                                   frame_of_side(wrapper, scope.inputs, scope.link_inputs, false));
  control.connections.emplace_back("frame_out",
                                   frame_of_side(wrapper, scope.outputs, scope.link_outputs, true));
  wrapper.module.items.emplace_back(control);
}

}  // namespace

AxiLayout axi_layout(const design::Stream& stream, const EmitOptions& options) {
  const std::int64_t width = stream.type.width;
  if (options.tdata == "packed") return {width, whole_bytes(stream.width())};
  const std::int64_t bytes = whole_bytes(width);
  if (options.tdata == "bytes") return {8 * bytes, stream.lanes * bytes};
  return {8 * power_of_two(bytes), power_of_two(stream.lanes * power_of_two(bytes))};
}

std::string axi_prefix(const Names& names, design::StreamId id, bool input) {
  return (input ? "s_axis_" : "m_axis_") + names.streams[static_cast<std::size_t>(id)];
}

std::string design_number(const design::Design& design, const Names& names) {
  std::string text = top_text(design, names);
  for (const design::Memory& memory : design.memories)
    if (!memory.base) text += join(memory.words, "\n");
  return sha256(text).substr(0, 8);
}

verilog::Module axi_module(const design::Design& design, const Names& names, const Scope& scope,
                           const EmitOptions& options, const std::string& number) {
  Wrapper wrapper{design,
                  names,
                  scope,
                  options,
                  {},
                  {scope.name, "core", {}, {{"clk", "aclk"}, {"rst", "rst"}}},
                  {"mase_axi_control",
                   "control",
                   {{"DESIGN", verilog::literal(design::HexBits{number, 32})}},
                   {{"clk", "aclk"}, {"rst", "areset"}, {"error", "error"}, {"core_rst", "rst"}}},
                  {}};
  wrapper.module.name = scope.name + "_axi";
  wrapper.module.comment = "AXI around " + scope.name +
                           ": streams with TDATA in whole bytes and TLAST at the end of a frame,\n"
                           "and registers (see mase_axi_control). `error`: an input was wrong.";
  wrapper.add_port(Direction::input, "aclk");
  wrapper.add_port(Direction::input, "aresetn");
  wrapper.add_port(Direction::output, "error");
  add_registers(wrapper);
  for (const design::StreamId id : scope.inputs) add_input(wrapper, id);
  for (const design::StreamId id : scope.outputs) add_output(wrapper, id);
  for (const design::StreamId id : scope.link_inputs) pass_link(wrapper, id, false);
  for (const design::StreamId id : scope.link_outputs) pass_link(wrapper, id, true);
  wrapper.module.items.emplace_back(wrapper.core);
  finish_registers(wrapper);
  return wrapper.module;
}

}  // namespace mase::emit
