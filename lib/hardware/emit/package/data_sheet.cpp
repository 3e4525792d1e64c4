// SPDX-License-Identifier: Apache-2.0
// Every number comes from the design; the tables of modules and registers are those of the program.
#include "hardware/emit/package/data_sheet.hpp"

#include <cstdio>

#include "base/text.hpp"
#include "hardware/design/clock.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/reload_map.hpp"
#include "hardware/emit/package/ip_package.hpp"
#include "hardware/emit/text/axi.hpp"
#include "hardware/emit/text/devices.hpp"
#include "hardware/emit/text/verilog.hpp"
#include "report/table.hpp"

namespace mase::emit {
namespace {

using Row = std::vector<std::string>;

std::string table_text(const Row& header, const std::vector<Row>& rows) {
  return report::markdown(header, rows) + "\n";
}

std::string digits(std::int64_t value) { return std::to_string(value); }
std::string quoted(const std::string& text) { return "`" + text + "`"; }

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> sizes;
  for (const std::int64_t size : shape) sizes.push_back(digits(size));
  return "[" + join(sizes, ", ") + "]";
}

std::string order_words(const integer::StreamValue& value) {
  if (!value.order.empty()) return "`order` in design.json";
  return value.shape == value.torch_shape ? "row-major" : "row-major, channels last";
}

Row stream_row(const design::Design& design, const Names& names, design::StreamId id, bool input) {
  const design::Stream& stream = design.stream(id);
  Row row = {quoted(names.streams[static_cast<std::size_t>(id)]),
             input ? "in" : "out",
             integer::type_text(stream.type),
             digits(stream.lanes),
             digits(stream.beats()),
             "",
             ""};
  if (design.program && stream.value >= 0) {
    const integer::StreamValue& value = design.program->value(stream.value);
    row[5] = shape_text(value.torch_shape);
    row[6] = order_words(value);
  }
  return row;
}

template <typename Do>
void for_each_border(const design::Design& design, Do&& act) {
  for (const design::StreamId id : design.inputs) act(id, true);
  for (const design::StreamId id : design.outputs) act(id, false);
}

std::string streams_section(const design::Design& design, const Names& names) {
  std::vector<Row> rows;
  for_each_border(design, [&](design::StreamId id, bool input) {
    rows.push_back(stream_row(design, names, id, input));
  });
  return "## Streams\n\n" +
         table_text({"stream", "direction", "element", "elements of a beat", "beats of a frame",
                     "tensor of a frame", "order"},
                    rows) +
         "An element `s8.5` is two's complement of 8 bits, 5 of them behind the binary point: code "
         "32 is "
         "1.0. `u` has no sign.\nElement 0 of a beat lies in its low bits.\n\n";
}

std::string ports_section(const design::Design& design, const Names& names) {
  std::vector<Row> rows = {{"`clk`", "in", "1", "rising edge"},
                           {"`rst`", "in", "1", "synchronous, active high"}};
  if (design.reloadable)
    rows.push_back({"`reload`", "in", digits(design::reload_bits),
                    "{write, address, 32 bits of a weight}; 0 where weights stay"});
  for_each_border(design, [&](design::StreamId id, bool input) {
    const std::string& name = names.streams[static_cast<std::size_t>(id)];
    const std::string with = input ? "in" : "out", against = input ? "out" : "in";
    rows.push_back({quoted(name + "_valid"), with, "1", "a beat is offered"});
    rows.push_back({quoted(name + "_ready"), against, "1", "it is taken at this edge"});
    rows.push_back({quoted(name + "_data"), with, digits(design.stream(id).width()), "the beat"});
  });
  return "## Ports of `rtl/" + names.top + ".sv`\n\n" +
         table_text({"port", "direction", "bits", "meaning"}, rows) +
         "A beat moves at an edge with `valid` and `ready` high. An offered beat stays until it is "
         "taken, and no output depends on an\ninput within a cycle. Frames follow each other "
         "without a gap; there is no signal between them. Reset drops all frames inside.\n\n";
}

std::string timing_section(const design::Design& design, const EmitOptions& options) {
  const design::Timing& timing = design.timing;
  std::vector<Row> rows = {{"first beat in to first beat out", digits(timing.first) + " cycles"},
                           {"first beat in to last beat out", digits(timing.last) + " cycles"},
                           {"between frames", digits(timing.interval) + " cycles"}};
  if (timing.interval > 0)
    rows.push_back({"frames per second at the target of " + double_text(options.clock_mhz) + " MHz",
                    fixed_text(options.clock_mhz * 1e6 / static_cast<double>(timing.interval), 0)});
  for (const std::string& name : design::technology_names()) {
    const design::Technology& technology = design::technology_of(name);
    const design::Clock clock = design::clock(design, technology);
    if (clock.instances.empty()) continue;
    rows.push_back({"clock predicted for " + name + ", " + std::string(technology.grade) + ", " +
                        std::string(technology.basis),
                    design::mhz_text(clock)});
  }
  const design::Cost cost = design::cost(design);
  rows.push_back({"resources predicted for 7-series",
                  fixed_text(cost.lut, 0) + " LUT, " + fixed_text(cost.ff, 0) + " FF, " +
                      fixed_text(cost.dsp, 0) + " DSP, " + fixed_text(cost.bram, 1) + " RAMB36"});
  return "## Time and resources\n\nCycles are exact where nothing stalls; clocks and resources are "
         "estimates.\n\n" +
         table_text({"figure", "value"}, rows);
}

std::string offset_text(int offset) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%02x", static_cast<unsigned>(offset));
  return text;
}

std::string axi_section(const design::Design& design, const Names& names,
                        const EmitOptions& options) {
  std::vector<Row> streams, registers;
  for_each_border(design, [&](design::StreamId id, bool input) {
    const AxiLayout layout = axi_layout(design.stream(id), options);
    streams.push_back({quoted(axi_prefix(names, id, input)), input ? "in" : "out",
                       digits(layout.bytes), digits(layout.lane_bits)});
  });
  for (const RegisterRow& row : register_rows)
    if (!row.reloads || design.reloadable)
      registers.push_back({offset_text(row.offset), row.name, row.access, row.text});
  return "## AXI wrapper, `rtl/" + names.top +
         "_axi.sv`\n\n`aclk`; `aresetn`, active low; `error`, high where an input was wrong; "
         "AXI4-Lite "
         "`s_axi_control`; and AXI4-Streams:\n\n" +
         table_text({"port", "direction", "bytes of TDATA", "bits from element to element"},
                    streams) +
         "TLAST ends a transfer of whole frames. Registers:\n\n" +
         table_text({"offset", "name", "access", "meaning"}, registers);
}

/// The tops of several devices with their links; nothing for one.
std::string devices_section(const design::Design& design, const Names& names) {
  if (!has_devices(design)) return "";
  std::vector<Row> devices, links;
  for (const DeviceScope& part : device_scopes(design, names)) {
    const Scope& scope = part.scope;
    const design::Cost cost = design::device_cost(design, part.device);
    devices.push_back({quoted("rtl/" + scope.name + ".sv"), quoted(part.list()),
                       fixed_text(cost.lut, 0), fixed_text(cost.ff, 0), fixed_text(cost.dsp, 0),
                       fixed_text(cost.bram, 1)});
    for (const auto* side : {&scope.link_inputs, &scope.link_outputs})
      for (const design::StreamId id : *side)
        links.push_back({quoted(scope.name),
                         quoted(link_prefix(names, id, side == &scope.link_outputs)),
                         digits(link_tdata(design, id)), digits(design.stream(id).beats())});
  }
  return "## Devices\n\nEvery device is built by itself. The top joins them for simulation.\n\n" +
         table_text({"top", "sources", "LUT", "FF", "DSP", "RAMB36"}, devices) +
         "Links between them are AXI4-Streams; TLAST is on the last beat of a frame:\n\n" +
         table_text({"device", "port", "bits of TDATA", "beats of a frame"}, links);
}

/// Parameters that fit a table: constants of many digits are in the top.
std::string parameters_text(const design::ModuleParameters& parameters) {
  constexpr std::size_t longest = 24;
  std::vector<std::string> words;
  for (const auto& [name, value] : parameters) {
    const std::string text = verilog::literal(value);
    words.push_back(name + "=" + (text.size() > longest ? "..." : text));
  }
  return quoted(join(words, " "));
}

std::string instances_section(const design::Design& design, const Names& names) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < design.instances.size(); ++i) {
    const design::Instance& instance = design.instances[i];
    rows.push_back({quoted(names.instances[i]), instance.layer, quoted(instance.module.name()),
                    instance.module->row().doc, parameters_text(instance.module->parameters())});
  }
  return "## Instances\n\n" +
         table_text({"instance", "layer", "module", "what it does", "parameters"}, rows);
}

}  // namespace

std::string data_sheet(const design::Design& design, const Names& names,
                       const EmitOptions& options) {
  return "# " + names.top +
         "\n\nA dataflow accelerator in SystemVerilog, emitted by mase. `make help` lists what "
         "can be done with it; `design.json` has everything below for programs.\n\n" +
         streams_section(design, names) + ports_section(design, names) +
         timing_section(design, options) + devices_section(design, names) +
         axi_section(design, names, options) + instances_section(design, names);
}

}  // namespace mase::emit
