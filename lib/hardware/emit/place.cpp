// SPDX-License-Identifier: Apache-2.0
// A boundary of registers around the top, Yosys, nextpnr, and what its report says.
#include "hardware/emit/place.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/run_folder.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/reload_map.hpp"
#include "hardware/emit/families.hpp"
#include "hardware/emit/text/names.hpp"
#include "hardware/emit/text/templates.hpp"
#include "hardware/emit/tools/yosys.hpp"

namespace mase::emit {
namespace {

constexpr double placement_seconds = 4 * 3600;
constexpr std::string_view report_name = "the report of nextpnr";
/// The names of cells of the top begin with this inside its boundary.
constexpr std::string_view inner = "inner.";

/// A port of the top and the bits of the boundary's registers that it is connected to.
struct BoundaryPorts {
  std::string connections;
  std::int64_t inputs = 0, outputs = 0;

  void add(const std::string& name, std::int64_t width, bool input) {
    std::int64_t& first = input ? inputs : outputs;
    connections += ",\n      ." + name + "(" + (input ? "given" : "seen") + "[" +
                   std::to_string(first) + " +: " + std::to_string(width) + "])";
    first += width;
  }
  void add_stream(const std::string& name, std::int64_t width, bool input) {
    add(name + "_valid", 1, input);
    add(name + "_ready", 1, !input);
    add(name + "_data", width, input);
  }
  void add_link(const std::string& prefix, std::int64_t tdata, bool input) {
    add(prefix + "_tvalid", 1, input);
    add(prefix + "_tready", 1, !input);
    add(prefix + "_tdata", tdata, input);
    add(prefix + "_tlast", 1, input);
  }
};

constexpr const char* boundary = R"(module @NAME@ (
    input  logic clk,
    input  logic reset,
    input  logic shift_in,
    input  logic load,
    output logic shift_out
);
  logic rst;
  logic [@INPUTS@-1:0] given;
  logic [@OUTPUTS@-1:0] seen, kept;
  always_ff @(posedge clk) begin
    rst   <= reset;
    given <= {given[@INPUTS@-2:0], shift_in};
    kept  <= load ? seen : {kept[@OUTPUTS@-2:0], 1'b0};
  end
  assign shift_out = kept[@OUTPUTS@-1];
  @TOP@ inner (
      .clk,
      .rst@CONNECTIONS@
  );
endmodule
)";

/// A value of the report; another shape than nextpnr's is the file's fault.
const Tree& entry(const Tree& tree, std::string_view key) {
  const Tree* found = tree.find(key);
  if (!found) file_error(std::string(report_name) + " has no entry '" + std::string(key) + "'");
  return *found;
}
double number(const Tree& tree) {
  if (!tree.is_number()) file_error(std::string(report_name) + " has another value than a number");
  return tree.as_double();
}
const std::string& word(const Tree& tree, std::string_view key) {
  const Tree& value = entry(tree, key);
  if (!value.is_string()) file_error(std::string(report_name) + " has a name that is not a text");
  return value.as_string();
}
const Tree::List& items(const Tree& tree, std::string_view key) {
  const Tree& value = entry(tree, key);
  if (!value.is_list())
    file_error(std::string(report_name) + " has no list '" + std::string(key) + "'");
  return value.as_list();
}

/// "datapath.weight_rom.data" of a flattened name: without blocks of generate and what Yosys adds.
std::string short_name(const std::string& cell) {
  std::vector<std::string> words;
  for (const std::string& part : split(cell, '.'))
    if (!part.starts_with("g_") && !part.starts_with("genblk")) words.push_back(part);
  std::string name = join(words, ".");
  for (const char* added : {"_SB_", "_TRELLIS_", "_MULT18X18D_", "_LUT4_", "_CCU2C_", "_PFUMX_"})
    name = name.substr(0, name.find(added));
  return name;
}

/// A cell's name inside the design, and the instance that it is part of ("" outside of all).
struct Place {
  std::string instance, cell;
};
Place place_of(const std::string& name) {
  if (!name.starts_with(inner)) return {"", short_name(name)};
  const std::string cell = name.substr(inner.size());
  const std::size_t end = cell.find('.');
  return {end == std::string::npos ? "" : cell.substr(0, end), short_name(cell)};
}

bool is_clocked(const Tree& tree, std::string_view key) {
  return word(tree, key).starts_with("posedge");
}

void read_slowest_path(const Tree& report, Placement& placement) {
  double worst = 0;
  for (const Tree& candidate : items(report, "critical_paths")) {
    if (!is_clocked(candidate, "from") || !is_clocked(candidate, "to")) continue;
    double logic = 0, routing = 0;
    const Tree::List& path = items(candidate, "path");
    for (const Tree& step : path)
      (word(step, "type") == "routing" ? routing : logic) += number(entry(step, "delay"));
    if (path.empty() || logic + routing <= worst) continue;
    worst = logic + routing;
    placement.logic = logic;
    placement.routing = routing;
    placement.from = place_of(word(entry(path.front(), "from"), "cell")).cell;
    placement.to = place_of(word(entry(path.back(), "to"), "cell")).cell;
  }
}

/// Nanoseconds: a number until nextpnr 0.4, then the shortest and the longest.
double longest_delay(const Tree& endpoint) {
  const Tree& delay = entry(endpoint, "delay");
  if (!delay.is_list()) return number(delay);
  return delay.as_list().empty() ? 0 : number(delay.as_list().back());
}

void read_instances(const Tree& report, Placement& placement) {
  for (const Tree& net : items(report, "detailed_net_timings")) {
    if (!is_clocked(net, "event")) continue;
    for (const Tree& endpoint : items(net, "endpoints")) {
      if (!is_clocked(endpoint, "event")) continue;
      const double ns = longest_delay(endpoint);
      const Place place = place_of(word(endpoint, "cell"));
      Placement::Slowest& slowest = placement.instances[place.instance];
      if (ns > slowest.ns) slowest = {ns, place.cell};
    }
  }
  placement.instances.erase("");
}

}  // namespace

std::string boundary_text(const design::Design& design, const Names& names,
                          const DeviceScope& part) {
  const Scope& scope = part.scope;
  BoundaryPorts ports;
  if (design.reloadable) ports.add("reload", design::reload_bits, true);
  for (const auto* side : {&scope.inputs, &scope.outputs})
    for (const design::StreamId id : *side)
      ports.add_stream(names.streams[static_cast<std::size_t>(id)], design.stream(id).width(),
                       side == &scope.inputs);
  for (const auto* side : {&scope.link_inputs, &scope.link_outputs})
    for (const design::StreamId id : *side)
      ports.add_link(link_prefix(names, id, side == &scope.link_outputs), link_tdata(design, id),
                     side == &scope.link_inputs);
  return filled(boundary, {{"NAME", boundary_name + part.ending()},
                           {"INPUTS", std::to_string(ports.inputs)},
                           {"OUTPUTS", std::to_string(ports.outputs)},
                           {"TOP", scope.name},
                           {"CONNECTIONS", ports.connections}});
}

Placement placement_of_report(const std::string& json) {
  const Tree report = parse_json(json, std::string(report_name));
  Placement placement;
  const Tree& clocks = entry(report, "fmax");
  if (!clocks.is_dict() || clocks.size() == 0)
    file_error(std::string(report_name) + " has no clock");
  const Tree& clock = clocks.as_dict().front().second;
  placement.mhz = number(entry(clock, "achieved"));
  placement.target_mhz = number(entry(clock, "constraint"));
  read_slowest_path(report, placement);
  read_instances(report, placement);
  const Tree& use = entry(report, "utilization");
  if (!use.is_dict()) file_error(std::string(report_name) + " has no table 'utilization'");
  for (const auto& [kind, count] : use.as_dict()) {
    const auto used = static_cast<std::int64_t>(number(entry(count, "used")));
    if (used > 0)
      placement.use[kind] = {used, static_cast<std::int64_t>(number(entry(count, "available")))};
  }
  return placement;
}

namespace {

Placement place_one(const std::string& hardware_folder, const design::Design& design,
                    const Names& names, const DeviceScope& part, const Family& family,
                    const std::string& program, double target_mhz, std::int64_t seed) {
  const auto start = std::chrono::steady_clock::now();
  const RunFolder run;
  const Synthesised counted =
      run_yosys(hardware_folder, family, boundary_name + part.ending(),
                boundary_text(design, names, part), run.file("netlist.json"));
  if (family.finish)
    write_file(run.file("netlist.json"), family.finish(read_file(run.file("netlist.json"))));
  const PlacedDevice& device =
      device_for(family, counted.cost, design::device_cost(design, part.device));
  std::vector<std::string> command = {program,
                                      "--quiet",
                                      "--json",
                                      "netlist.json",
                                      "--report",
                                      "report.json",
                                      "--freq",
                                      double_text(target_mhz),
                                      "--seed",
                                      std::to_string(seed),
                                      "--timing-allow-fail",
                                      "--detailed-timing-report"};
  for (const auto* words : {&device.arguments, &family.place_arguments})
    command.insert(command.end(), words->begin(), words->end());
  run_checked(command, {run.file(""), placement_seconds, {}}, "placement by nextpnr");
  Placement placement = placement_of_report(read_file(run.file("report.json")));
  placement.top = part.scope.name;
  placement.device_id = part.device_id();
  placement.family = family.name;
  placement.device = device.name;
  placement.seed = seed;
  placement.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return placement;
}

}  // namespace

std::vector<Placement> place(const std::string& hardware_folder, const design::Design& design,
                             const std::string& family_name, double target_mhz, std::int64_t seed) {
  const Family& family = placed_family(family_name);
  const std::string program = program_here("nextpnr-" + family_name);
  require_program(program);
  const Names names = names_of(design);
  std::vector<Placement> placements;
  for (const DeviceScope& part : device_scopes(design, names))
    placements.push_back(
        place_one(hardware_folder, design, names, part, family, program, target_mhz, seed));
  return placements;
}

}  // namespace mase::emit
