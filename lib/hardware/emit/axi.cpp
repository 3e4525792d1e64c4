// SPDX-License-Identifier: Apache-2.0
// The AXI4-Stream wrapper: the usual port names, clock and active-low reset around the plain top.
#include "hardware/emit/top.hpp"
#include "hardware/emit/verilog.hpp"

namespace mase::emit {
namespace {

using verilog::Direction;

struct Wrapper {
  const design::Design& design;
  const Names& names;
  verilog::Module module;
  verilog::Instance core;
  std::vector<std::string> errors;
};

/// Signals between an adapter and the core.
void add_link(Wrapper& wrapper, const std::string& name, std::int64_t width) {
  wrapper.module.items.emplace_back(verilog::Net{name + "_valid", 1, true});
  wrapper.module.items.emplace_back(verilog::Net{name + "_ready", 1, true});
  wrapper.module.items.emplace_back(verilog::Net{name + "_data", width, false});
  for (const char* part : {"_valid", "_ready", "_data"})
    wrapper.core.connections.emplace_back(name + part, name + part);
}

verilog::Instance adapter(const design::Stream& stream, const std::string& module,
                          const std::string& name) {
  return {module,
          name,
          {{"W", std::to_string(stream.width())}, {"BEATS", std::to_string(stream.beats())}},
          {{"clk", "aclk"}, {"rst", "rst"}}};
}

void add_input(Wrapper& wrapper, design::StreamId id) {
  const design::Stream& stream = wrapper.design.stream(id);
  const std::string& name = wrapper.names.streams[static_cast<std::size_t>(id)];
  const std::string port = "s_axis_" + name;
  auto& ports = wrapper.module.ports;
  ports.push_back({Direction::input, port + "_tvalid", 1, true});
  ports.push_back({Direction::output, port + "_tready", 1, true});
  ports.push_back({Direction::input, port + "_tdata", (stream.width() + 7) / 8 * 8, false});
  ports.push_back({Direction::input, port + "_tlast", 1, true});
  add_link(wrapper, name, stream.width());
  wrapper.module.items.emplace_back(verilog::Net{name + "_error", 1, true});
  wrapper.errors.push_back(name + "_error");
  verilog::Instance instance = adapter(stream, "mase_axi_stream_input", name + "_adapter");
  for (const char* part : {"_tvalid", "_tready", "_tdata", "_tlast"})
    instance.connections.emplace_back(std::string("s_axis") + part, port + part);
  for (const char* part : {"_valid", "_ready", "_data"})
    instance.connections.emplace_back(std::string("out") + part, name + part);
  instance.connections.emplace_back("error", name + "_error");
  wrapper.module.items.emplace_back(instance);
}

void add_output(Wrapper& wrapper, design::StreamId id) {
  const design::Stream& stream = wrapper.design.stream(id);
  const std::string& name = wrapper.names.streams[static_cast<std::size_t>(id)];
  const std::string port = "m_axis_" + name;
  const std::int64_t bytes = (stream.width() + 7) / 8;
  auto& ports = wrapper.module.ports;
  ports.push_back({Direction::output, port + "_tvalid", 1, true});
  ports.push_back({Direction::input, port + "_tready", 1, true});
  ports.push_back({Direction::output, port + "_tdata", 8 * bytes, false});
  ports.push_back({Direction::output, port + "_tkeep", bytes, false});
  ports.push_back({Direction::output, port + "_tlast", 1, true});
  add_link(wrapper, name, stream.width());
  verilog::Instance instance = adapter(stream, "mase_axi_stream_output", name + "_adapter");
  for (const char* part : {"_valid", "_ready", "_data"})
    instance.connections.emplace_back(std::string("in") + part, name + part);
  for (const char* part : {"_tvalid", "_tready", "_tdata", "_tkeep", "_tlast"})
    instance.connections.emplace_back(std::string("m_axis") + part, port + part);
  wrapper.module.items.emplace_back(instance);
}

}  // namespace

std::string axi_text(const design::Design& design, const Names& names) {
  Wrapper wrapper{
      design, names, {}, {names.top, "core", {}, {{"clk", "aclk"}, {"rst", "rst"}}}, {}};
  verilog::Module& module = wrapper.module;
  module.name = names.top + "_axi";
  module.comment = "AXI4-Stream around " + names.top +
                   ": TDATA is a beat padded to whole bytes, TLAST ends a frame.\n"
                   "`tlast_error` stays high after a TLAST in a wrong place.";
  module.ports = {{Direction::input, "aclk", 1, true},
                  {Direction::input, "aresetn", 1, true},
                  {Direction::output, "tlast_error", 1, true}};
  module.items = {verilog::Net{"rst", 1, true}, verilog::Assign{"rst", "!aresetn"}};
  for (const design::StreamId id : design.inputs) add_input(wrapper, id);
  for (const design::StreamId id : design.outputs) add_output(wrapper, id);
  module.items.emplace_back(
      verilog::Assign{"tlast_error", "|" + verilog::concatenation(wrapper.errors)});
  module.items.emplace_back(wrapper.core);
  return verilog::print(module);
}

}  // namespace mase::emit
