// SPDX-License-Identifier: Apache-2.0
// Instances and streams as text: every stream becomes three signals, every instance is connected by
// the table of its module's ports.
#include "hardware/emit/text/scope.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/error.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/reload_map.hpp"

namespace mase::emit {
namespace {

using verilog::Direction;
using Connections = std::vector<std::pair<std::string, std::string>>;

const std::string& name_of(const Names& names, design::StreamId id) {
  return names.streams[static_cast<std::size_t>(id)];
}

/// The signals of a stream as expressions.
struct Signals {
  std::string valid, ready, data;
};
using SignalsOf = std::function<Signals(design::StreamId)>;

Signals plain_signals(const std::string& name) {
  return {name + "_valid", name + "_ready", name + "_data"};
}

Signals link_signals(const std::string& prefix) {
  return {prefix + "_tvalid", prefix + "_tready",
          verilog::concatenation({prefix + "_tdata", prefix + "_tlast"})};
}

Direction against(Direction direction) {
  return direction == Direction::input ? Direction::output : Direction::input;
}

/// Valid and data go with the stream, ready against it.
void add_ports(std::vector<verilog::Port>& ports, const std::string& name, std::int64_t width,
               Direction direction) {
  ports.push_back({direction, name + "_valid", 1, true});
  ports.push_back({against(direction), name + "_ready", 1, true});
  ports.push_back({direction, name + "_data", width, false});
}

void connect(Connections& connections, const std::string& port,
             const std::vector<Signals>& streams) {
  const std::pair<const char*, std::string Signals::*> parts[] = {
      {"_valid", &Signals::valid}, {"_ready", &Signals::ready}, {"_data", &Signals::data}};
  for (const auto& [part, signal] : parts) {
    std::vector<std::string> signals;
    for (const Signals& stream : streams) signals.push_back(stream.*signal);
    connections.emplace_back(port + part, verilog::concatenation(signals));
  }
}

void connect_side(Connections& connections, const std::vector<std::string>& prefixes,
                  const std::vector<Signals>& streams, bool one_vector,
                  const std::string& instance) {
  if (one_vector) return connect(connections, prefixes.front(), streams);
  MASE_CHECK(prefixes.size() == streams.size(), "ports and streams of " + instance + " differ");
  for (std::size_t i = 0; i < streams.size(); ++i) connect(connections, prefixes[i], {streams[i]});
}

std::vector<Signals> signals_of(const std::vector<design::StreamId>& ids,
                                const SignalsOf& signals) {
  std::vector<Signals> out;
  for (const design::StreamId id : ids) out.push_back(signals(id));
  return out;
}

verilog::Instance instance_of(const design::Design& design, const design::Instance& instance,
                              const std::string& name, const SignalsOf& signals) {
  const design::ModuleRow& row = instance.module->row();
  verilog::Instance out{row.name, name, {}, {{"clk", "clk"}, {"rst", "rst"}}};
  if (design.reloadable && row.reloads) out.connections.emplace_back("reload", "reload");
  for (const auto& [parameter, value] : instance.module->parameters())
    out.parameters.emplace_back(parameter, verilog::literal(value));
  connect_side(out.connections, row.inputs, signals_of(instance.inputs, signals), false,
               instance.name);
  connect_side(out.connections, row.outputs, signals_of(instance.outputs, signals),
               row.vector_output, instance.name);
  return out;
}

/// A link has TDATA and TLAST in place of elements.
bool is_link(const design::Design& design, design::StreamId id) {
  const auto touches = [&](const design::Instance& instance) {
    return instance.device == design::between_devices &&
           (instance.inputs[0] == id || instance.outputs[0] == id);
  };
  return std::ranges::any_of(design.instances, touches);
}

std::string stream_comment(const design::Design& design, const Names& names, design::StreamId id,
                           const std::string& direction) {
  const design::Stream& stream = design.stream(id);
  if (is_link(design, id))
    return "Link " + name_of(names, id) + ": " + std::to_string(stream.beats()) +
           " beats a frame, {TLAST, TDATA}";
  return direction + " " + name_of(names, id) + ": " + std::to_string(stream.beats()) +
         " beats a frame, each " + std::to_string(stream.lanes) + " x " +
         integer::type_text(stream.type);
}

/// What it does and for which layer.
std::string instance_comment(const design::Instance& instance) {
  const std::string doc = instance.module->row().doc;
  if (instance.layer.empty()) return "Between layers: " + doc;
  return "Layer " + instance.layer + (doc.empty() ? "" : ": " + doc);
}

void add_link_ports(std::vector<verilog::Port>& ports, const std::string& prefix,
                    std::int64_t tdata, Direction direction) {
  ports.push_back({direction, prefix + "_tvalid", 1, true});
  ports.push_back({against(direction), prefix + "_tready", 1, true});
  ports.push_back({direction, prefix + "_tdata", tdata, false});
  ports.push_back({direction, prefix + "_tlast", 1, true});
}

void add_links(const design::Design& design, const Names& names,
               const std::vector<design::StreamId>& ids, Direction direction,
               verilog::Module& module, std::map<design::StreamId, Signals>& border) {
  for (const design::StreamId id : ids) {
    const std::string prefix = link_prefix(names, id, direction == Direction::output);
    module.comment += "\nAXI4-Stream " + prefix + ": " + std::to_string(design.stream(id).beats()) +
                      " beats a frame.";
    add_link_ports(module.ports, prefix, link_tdata(design, id), direction);
    border[id] = link_signals(prefix);
  }
}

}  // namespace

std::string link_prefix(const Names& names, design::StreamId id, bool leaves) {
  return (leaves ? "m_axis_" : "s_axis_") + name_of(names, id);
}

std::int64_t link_tdata(const design::Design& design, design::StreamId id) {
  return design.stream(id).width() - 1;
}

void add_reload_port(const design::Design& design, verilog::Module& module) {
  if (!design.reloadable) return;
  module.comment += "\nPort reload: a word of its weights, as mase_reload_memory takes it.";
  module.ports.push_back({Direction::input, "reload", design::reload_bits, false});
}

void add_stream_ports(const design::Design& design, const Names& names,
                      const std::vector<design::StreamId>& ids, Direction direction,
                      verilog::Module& module) {
  for (const design::StreamId id : ids) {
    module.comment += "\n" + stream_comment(design, names, id,
                                            direction == Direction::input ? "Input" : "Output");
    add_ports(module.ports, name_of(names, id), design.stream(id).width(), direction);
  }
}

void add_nets(const design::Design& design, const Names& names, design::StreamId id,
              verilog::Module& module) {
  const std::string& name = name_of(names, id);
  module.items.emplace_back(verilog::Comment{stream_comment(design, names, id, "Stream")});
  module.items.emplace_back(verilog::Net{name + "_valid", 1, true});
  module.items.emplace_back(verilog::Net{name + "_ready", 1, true});
  module.items.emplace_back(verilog::Net{name + "_data", design.stream(id).width(), false});
}

verilog::Instance plain_instance(const design::Design& design, const Names& names,
                                 std::size_t index) {
  return instance_of(design, design.instances[index], names.instances[index],
                     [&](design::StreamId id) { return plain_signals(name_of(names, id)); });
}

verilog::Module module_of_scope(const design::Design& design, const Names& names,
                                const Scope& scope) {
  verilog::Module module;
  module.name = scope.name;
  module.comment = scope.comment;
  module.ports = {{Direction::input, "clk", 1, true}, {Direction::input, "rst", 1, true}};
  add_reload_port(design, module);
  add_stream_ports(design, names, scope.inputs, Direction::input, module);
  add_stream_ports(design, names, scope.outputs, Direction::output, module);
  std::map<design::StreamId, Signals> links;
  add_links(design, names, scope.link_inputs, Direction::input, module, links);
  add_links(design, names, scope.link_outputs, Direction::output, module, links);
  std::set<design::StreamId> inner;
  for (const std::size_t i : scope.instances)
    for (const auto* side : {&design.instances[i].inputs, &design.instances[i].outputs})
      inner.insert(side->begin(), side->end());
  for (const auto* side : {&scope.inputs, &scope.outputs, &scope.link_inputs, &scope.link_outputs})
    for (const design::StreamId id : *side) inner.erase(id);
  for (const design::StreamId id : inner) add_nets(design, names, id, module);
  const SignalsOf signals = [&](design::StreamId id) {
    const auto link = links.find(id);
    return link == links.end() ? plain_signals(name_of(names, id)) : link->second;
  };
  for (const std::size_t i : scope.instances) {
    const design::Instance& instance = design.instances[i];
    module.items.emplace_back(verilog::Comment{instance_comment(instance)});
    module.items.emplace_back(instance_of(design, instance, names.instances[i], signals));
  }
  return module;
}

}  // namespace mase::emit
