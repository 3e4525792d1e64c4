// SPDX-License-Identifier: Apache-2.0
// Devices as modules: ports with valid, ready and data for the streams of the design, and an
// AXI4-Stream for each link.
#include "hardware/emit/text/devices.hpp"

#include <algorithm>
#include <numeric>

#include "hardware/emit/text/verilog.hpp"

namespace mase::emit {
namespace {

using verilog::Direction;

/// The streams of `from` that an instance of the scope has at `side`.
std::vector<design::StreamId> streams_at(const design::Design& design, const Scope& scope,
                                         const std::vector<design::StreamId>& from,
                                         std::vector<design::StreamId> design::Instance::*side) {
  std::vector<design::StreamId> found;
  for (const design::StreamId id : from)
    if (std::ranges::any_of(scope.instances, [&](std::size_t i) {
          return std::ranges::count(design.instances[i].*side, id) > 0;
        }))
      found.push_back(id);
  return found;
}

/// The streams into or out of what lies between devices.
std::vector<design::StreamId> link_streams(const design::Design& design,
                                           std::vector<design::StreamId> design::Instance::*side) {
  std::vector<design::StreamId> streams;
  for (const design::Instance& instance : design.instances)
    if (instance.device == design::between_devices) streams.push_back((instance.*side)[0]);
  return streams;
}

Scope scope_of(const design::Design& design, const Names& names, int device) {
  Scope scope;
  scope.name = names.top + "_" + device_word(device);
  scope.comment = "Device " + std::to_string(device) + " of the dataflow design " + design.name +
                  ": layers joined by streams.";
  for (std::size_t i = 0; i < design.instances.size(); ++i)
    if (design.instances[i].device == device) scope.instances.push_back(i);
  using I = design::Instance;
  scope.inputs = streams_at(design, scope, design.inputs, &I::inputs);
  scope.outputs = streams_at(design, scope, design.outputs, &I::outputs);
  scope.link_inputs = streams_at(design, scope, link_streams(design, &I::outputs), &I::inputs);
  scope.link_outputs = streams_at(design, scope, link_streams(design, &I::inputs), &I::outputs);
  return scope;
}

void connect_plain(verilog::Instance& instance, const Names& names,
                   const std::vector<design::StreamId>& ids) {
  for (const design::StreamId id : ids)
    for (const char* part : {"_valid", "_ready", "_data"}) {
      const std::string signal = names.streams[static_cast<std::size_t>(id)] + part;
      instance.connections.emplace_back(signal, signal);
    }
}

void connect_links(verilog::Instance& instance, const design::Design& design, const Names& names,
                   const std::vector<design::StreamId>& ids, bool leave) {
  for (const design::StreamId id : ids) {
    const std::string prefix = link_prefix(names, id, leave);
    const std::string& name = names.streams[static_cast<std::size_t>(id)];
    const std::int64_t tdata = link_tdata(design, id);
    instance.connections.emplace_back(prefix + "_tvalid", name + "_valid");
    instance.connections.emplace_back(prefix + "_tready", name + "_ready");
    instance.connections.emplace_back(prefix + "_tdata", verilog::slice(name + "_data", 0, tdata));
    instance.connections.emplace_back(prefix + "_tlast",
                                      name + "_data[" + std::to_string(tdata) + "]");
  }
}

verilog::Instance device_instance(const design::Design& design, const Names& names,
                                  const DeviceScope& part) {
  verilog::Instance instance{part.scope.name, part.word, {}, {{"clk", "clk"}, {"rst", "rst"}}};
  connect_plain(instance, names, part.scope.inputs);
  connect_plain(instance, names, part.scope.outputs);
  connect_links(instance, design, names, part.scope.link_inputs, false);
  connect_links(instance, design, names, part.scope.link_outputs, true);
  return instance;
}

}  // namespace

bool has_devices(const design::Design& design) { return design.devices().size() > 1; }

std::string device_word(int device) { return "device" + std::to_string(device); }

std::string instance_path(const design::Design& design, const Names& names, std::size_t index) {
  const int device = design.instances[index].device;
  const bool below = has_devices(design) && device != design::between_devices;
  return (below ? device_word(device) + "." : "") + names.instances[index];
}

Scope whole_scope(const design::Design& design, const Names& names) {
  Scope scope{names.top,
              "Dataflow design " + design.name + ": layers joined by streams.",
              design.inputs,
              design.outputs,
              {},
              {},
              std::vector<std::size_t>(design.instances.size())};
  std::iota(scope.instances.begin(), scope.instances.end(), std::size_t{0});
  return scope;
}

std::vector<DeviceScope> device_scopes(const design::Design& design, const Names& names) {
  const std::vector<int> devices = design.devices();
  if (!has_devices(design))
    return {{devices.empty() ? 0 : devices.front(), "", whole_scope(design, names)}};
  std::vector<DeviceScope> scopes;
  for (const int device : devices)
    scopes.push_back({device, device_word(device), scope_of(design, names, device)});
  return scopes;
}

verilog::Module module_of_devices(const design::Design& design, const Names& names) {
  verilog::Module top;
  top.name = names.top;
  top.comment = "Dataflow design " + design.name +
                " on several devices, for simulation: links of mase_link join them.";
  top.ports = {{Direction::input, "clk", 1, true}, {Direction::input, "rst", 1, true}};
  add_stream_ports(design, names, design.inputs, Direction::input, top);
  add_stream_ports(design, names, design.outputs, Direction::output, top);
  for (const auto side : {&design::Instance::inputs, &design::Instance::outputs})
    for (const design::StreamId id : link_streams(design, side)) add_nets(design, names, id, top);
  for (const DeviceScope& part : device_scopes(design, names))
    top.items.emplace_back(device_instance(design, names, part));
  for (std::size_t i = 0; i < design.instances.size(); ++i)
    if (design.instances[i].device == design::between_devices)
      top.items.emplace_back(plain_instance(design, names, i));
  return top;
}

std::vector<verilog::Module> device_modules(const design::Design& design, const Names& names) {
  std::vector<verilog::Module> modules;
  if (!has_devices(design)) return modules;
  for (const DeviceScope& part : device_scopes(design, names))
    modules.push_back(module_of_scope(design, names, part.scope));
  return modules;
}

}  // namespace mase::emit
