// SPDX-License-Identifier: Apache-2.0
// The top module of a design: every stream becomes three signals, every instance is connected by
// the table of its module's ports.
#include "hardware/emit/text/top.hpp"

#include <set>

#include "base/error.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/reload_map.hpp"
#include "hardware/emit/text/verilog.hpp"

namespace mase::emit {
namespace {

using verilog::Direction;
using Connections = std::vector<std::pair<std::string, std::string>>;

const std::string& name_of(const Names& names, design::StreamId id) {
  return names.streams[static_cast<std::size_t>(id)];
}

/// Valid and data go with the stream, ready against it.
void add_ports(std::vector<verilog::Port>& ports, const std::string& name, std::int64_t width,
               Direction direction) {
  const Direction against = direction == Direction::input ? Direction::output : Direction::input;
  ports.push_back({direction, name + "_valid", 1, true});
  ports.push_back({against, name + "_ready", 1, true});
  ports.push_back({direction, name + "_data", width, false});
}

void connect(Connections& connections, const std::string& port,
             const std::vector<std::string>& streams) {
  for (const char* part : {"_valid", "_ready", "_data"}) {
    std::vector<std::string> signals;
    for (const std::string& stream : streams) signals.push_back(stream + part);
    connections.emplace_back(port + part, verilog::concatenation(signals));
  }
}

std::vector<std::string> names_of_streams(const Names& names,
                                          const std::vector<design::StreamId>& ids) {
  std::vector<std::string> out;
  for (const design::StreamId id : ids) out.push_back(name_of(names, id));
  return out;
}

void connect_side(Connections& connections, const std::vector<std::string>& prefixes,
                  const std::vector<std::string>& streams, bool one_vector,
                  const std::string& instance) {
  if (one_vector) return connect(connections, prefixes.front(), streams);
  MASE_CHECK(prefixes.size() == streams.size(), "ports and streams of " + instance + " differ");
  for (std::size_t i = 0; i < streams.size(); ++i) connect(connections, prefixes[i], {streams[i]});
}

verilog::Instance instance_of(const design::Design& design, const design::Instance& instance,
                              const std::string& name, const Names& names) {
  const design::ModuleRow& row = instance.module->row();
  verilog::Instance out{row.name, name, {}, {{"clk", "clk"}, {"rst", "rst"}}};
  if (design.reloadable && row.reloads) out.connections.emplace_back("reload", "reload");
  for (const auto& [parameter, value] : instance.module->parameters())
    out.parameters.emplace_back(parameter, verilog::literal(value));
  connect_side(out.connections, row.inputs, names_of_streams(names, instance.inputs), false,
               instance.name);
  connect_side(out.connections, row.outputs, names_of_streams(names, instance.outputs),
               row.vector_output, instance.name);
  return out;
}

std::string stream_comment(const design::Design& design, const Names& names, design::StreamId id,
                           const std::string& direction) {
  const design::Stream& stream = design.stream(id);
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

void check_borders(const design::Design& design) {
  std::set<design::StreamId> seen;
  for (const auto* side : {&design.inputs, &design.outputs})
    for (const design::StreamId id : *side)
      MASE_CHECK(seen.insert(id).second,
                 "stream " + design.stream(id).name + " is twice at the border of the design");
}

}  // namespace

std::string top_text(const design::Design& design, const Names& names) {
  check_borders(design);
  verilog::Module top;
  top.name = names.top;
  top.comment = "Dataflow design " + design.name + ": layers joined by streams.";
  top.ports = {{Direction::input, "clk", 1, true}, {Direction::input, "rst", 1, true}};
  if (design.reloadable) {
    top.comment += "\nPort reload: a word of its weights, as mase_reload_memory takes it.";
    top.ports.push_back({Direction::input, "reload", design::reload_bits, false});
  }
  std::set<design::StreamId> border;
  const auto add_border = [&](const std::vector<design::StreamId>& ids, Direction direction,
                              const std::string& word) {
    for (const design::StreamId id : ids) {
      border.insert(id);
      top.comment += "\n" + stream_comment(design, names, id, word);
      add_ports(top.ports, name_of(names, id), design.stream(id).width(), direction);
    }
  };
  add_border(design.inputs, Direction::input, "Input");
  add_border(design.outputs, Direction::output, "Output");
  for (std::size_t i = 0; i < design.streams.size(); ++i) {
    const auto id = static_cast<design::StreamId>(i);
    if (border.contains(id)) continue;
    top.items.emplace_back(verilog::Comment{stream_comment(design, names, id, "Stream")});
    top.items.emplace_back(verilog::Net{names.streams[i] + "_valid", 1, true});
    top.items.emplace_back(verilog::Net{names.streams[i] + "_ready", 1, true});
    top.items.emplace_back(
        verilog::Net{names.streams[i] + "_data", design.streams[i].width(), false});
  }
  for (std::size_t i = 0; i < design.instances.size(); ++i) {
    top.items.emplace_back(verilog::Comment{instance_comment(design.instances[i])});
    top.items.emplace_back(instance_of(design, design.instances[i], names.instances[i], names));
  }
  return verilog::print(top);
}

}  // namespace mase::emit
