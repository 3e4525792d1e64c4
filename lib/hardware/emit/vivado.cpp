// SPDX-License-Identifier: Apache-2.0
// The templates of hw_templates/vivado, filled in, and the two reports that matter.
#include "hardware/emit/vivado.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "hardware/emit/text/axi.hpp"
#include "hardware/emit/text/templates.hpp"

namespace mase::emit {
namespace {

constexpr double vivado_seconds = 24 * 3600;
constexpr double missing =
    std::numeric_limits<double>::quiet_NaN();  // no figure: every comparison fails

std::optional<double> number_of(const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0') return std::nullopt;
  return value;
}

/// The cells between the bars of "| Slice LUTs* | 1 | 0 | 20800 | <0.01 |".
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (const std::string& cell : split(line, '|'))
    if (const std::string word(trim(cell)); !word.empty()) cells.push_back(word);
  return cells;
}

struct ResourceRow {
  const char* name;  ///< as 7 series or UltraScale say
  double design::Cost::*member;
};
constexpr auto resource_rows = std::to_array<ResourceRow>({{"Slice LUTs", &design::Cost::lut},
                                                           {"CLB LUTs", &design::Cost::lut},
                                                           {"Slice Registers", &design::Cost::ff},
                                                           {"CLB Registers", &design::Cost::ff},
                                                           {"Block RAM Tile", &design::Cost::bram},
                                                           {"DSPs", &design::Cost::dsp}});

/// The words of the line below the dashes that follow a line that begins with `heading`.
std::vector<std::string> values_below(const std::vector<std::string>& lines,
                                      const std::string& heading) {
  for (std::size_t i = 0; i + 2 < lines.size(); ++i)
    if (trim(lines[i]).starts_with(heading)) {
      std::istringstream words(lines[i + 2]);
      return {std::istream_iterator<std::string>(words), {}};
    }
  return {};
}

/// A list in Tcl: "x 4 y 8".
std::string streams_and_bytes(const design::Design& design, const Names& names,
                              const std::vector<design::StreamId>& ids,
                              const EmitOptions& options) {
  std::vector<std::string> words;
  for (const design::StreamId id : ids) {
    words.push_back(names.streams[static_cast<std::size_t>(id)]);
    words.push_back(std::to_string(axi_layout(design.stream(id), options).bytes));
  }
  return join(words, " ");
}

/// A list in Tcl: the ports of links.
std::string links_text(const Names& names, const Scope& scope) {
  std::vector<std::string> words;
  for (const auto* side : {&scope.link_inputs, &scope.link_outputs})
    for (const design::StreamId id : *side)
      words.push_back(link_prefix(names, id, side == &scope.link_outputs));
  return join(words, " ");
}

/// A dictionary in Tcl: by what ends the names of a device's files.
template <class TextOf>
std::string of_each(const std::vector<DeviceScope>& parts, TextOf text_of) {
  std::vector<std::string> words;
  for (const DeviceScope& part : parts)
    words.push_back("{" + part.ending() + "} {" + text_of(part.scope) + "}");
  return join(words, " ");
}

/// A word of Tcl: parts of other makers than those in the table are taken as they are given.
const std::string& word_of(const std::string& part) {
  const bool good = !part.empty() && std::ranges::all_of(part, [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.';
  });
  if (!good)
    config_error("part '" + part + "': the name of a part has letters, digits, '-', '_' and '.'");
  return part;
}

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  file_error(path + ": " + what);
}

}  // namespace

std::string choose_device(const std::vector<DeviceScope>& parts) {
  std::vector<std::string> words;
  for (const DeviceScope& part : parts)
    if (!part.word.empty()) words.push_back(part.word);
  if (words.empty()) return "set ending \"\"";
  return filled(R"(# Each of several devices is built by itself.
set devices {@DEVICES@}
set at [lsearch -regexp $arguments {^device[0-9]+$}]
set device [lindex $arguments $at]
if {[lsearch -exact $devices $device] < 0} {
  puts "ERROR: the design is on several devices: name one of $devices"
  exit 1
}
set ending _$device
set arguments [lreplace $arguments $at $at])",
                {{"DEVICES", join(words, " ")}});
}

Files vivado_files(const design::Design& design, const EmitOptions& options,
                   const std::string& number) {
  const Names names = names_of(design);
  const std::vector<DeviceScope> parts = device_scopes(design, names);
  const double period = 1000 / options.clock_mhz;
  const Tokens tokens = {
      {"TOP", names.top},
      {"PART", word_of(options.part)},
      {"NUMBER", number},
      {"MHZ", double_text(options.clock_mhz)},
      {"PERIOD", fixed_text(period, 3)},
      {"OUTSIDE", fixed_text(period / 5, 3)},
      {"CHOOSE_DEVICE", choose_device(parts)},
      {"INPUTS", of_each(parts,
                         [&](const Scope& scope) {
                           return streams_and_bytes(design, names, scope.inputs, options);
                         })},
      {"OUTPUTS", of_each(parts,
                          [&](const Scope& scope) {
                            return streams_and_bytes(design, names, scope.outputs, options);
                          })},
      {"LINKS", of_each(parts, [&](const Scope& scope) { return links_text(names, scope); })}};
  const auto text = [&](const char* name) { return filled(template_text(name), tokens); };
  return {{"vivado/build.tcl", text("vivado/build.tcl")},
          {"vivado/" + names.top + ".xdc", text("vivado/constraints.xdc")},
          {"vivado/block_design.tcl", text("vivado/block_design.tcl")}};
}

void read_utilization(const std::string& text, const std::string& path, Implementation& found) {
  std::size_t rows = 0;
  for (const std::string& line : split(text, '\n')) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() < 4) continue;
    for (const ResourceRow& row : resource_rows) {
      if (cells[0] != row.name && cells[0] != row.name + std::string("*")) continue;
      const auto used = number_of(cells[1]), available = number_of(cells[cells.size() - 2]);
      if (!used || !available) refuse(path, "row '" + cells[0] + "' has no numbers");
      found.used.*row.member = *used;
      found.available.*row.member = *available;
      ++rows;
    }
  }
  if (rows < 4)
    refuse(path,
           "no utilization report of Vivado: rows for LUTs, registers, DSPs and block memories "
           "are wanted");
}

void read_timing(const std::string& text, const std::string& path, Implementation& found) {
  const std::vector<std::string> lines = split(text, '\n');
  const std::vector<std::string> worst = values_below(lines, "WNS(ns)");
  const std::vector<std::string> clock = values_below(lines, "Clock ");
  const double slack = worst.empty() ? missing : number_of(worst.front()).value_or(missing);
  // "clk  {0.000 2.500}  5.000  200.000": the period is the last but one.
  const double period =
      clock.size() < 4 ? missing : number_of(clock[clock.size() - 2]).value_or(missing);
  if (!(period > 0 && slack < period))
    refuse(path, "no timing summary of Vivado with a clock and a worst slack");
  found.slack = slack;
  found.period = period;
}

void check_wrapper(const std::string& wrapper) {
  if (wrapper != "core" && wrapper != "axi")
    config_error("Vivado implements core or axi, not '" + wrapper + "'");
}

namespace {

Implementation implement_one(const std::string& hardware_folder, const DeviceScope& part,
                             const std::string& number, const std::string& wrapper) {
  Implementation found;
  found.top = wrapper == "axi" ? part.scope.name + "_axi" : part.scope.name;
  found.device_id = part.device_id();
  const std::string reports = hardware_folder + "/vivado/reports" + part.ending() + "/";
  const std::string is = number + " " + found.top + "\n";
  const auto are_there = [&] {
    return file_exists(reports + "design.txt") && read_file(reports + "design.txt") == is;
  };
  if (!are_there()) {
    if (!program_exists("vivado"))
      file_error("there is no 'vivado' in PATH, and " + reports +
                 " has no reports of this design: run `make vivado" +
                 (wrapper == "axi" ? " VIVADO_ARGS=axi" : "") + "` in " + hardware_folder +
                 " where Vivado is, and bring vivado/reports" + part.ending() + " back");
    std::vector<std::string> command = {"vivado", "-mode", "batch", "-source", "build.tcl"};
    std::vector<std::string> words;
    if (!part.word.empty()) words.push_back(part.word);
    if (wrapper == "axi") words.push_back(wrapper);
    if (!words.empty()) command.emplace_back("-tclargs");
    command.insert(command.end(), words.begin(), words.end());
    const ProcessResult result =
        run_process(command, {hardware_folder + "/vivado", vivado_seconds, {}});
    if (!are_there()) file_error("Vivado failed:\n" + last_lines(result, 20));
  }
  read_utilization(read_file(reports + "utilization.txt"), reports + "utilization.txt", found);
  read_timing(read_file(reports + "timing.txt"), reports + "timing.txt", found);
  return found;
}

}  // namespace

std::vector<Implementation> implement(const std::string& hardware_folder,
                                      const design::Design& design, const std::string& wrapper) {
  const Names names = names_of(design);
  const std::string number = design_number(design, names);
  std::vector<Implementation> all;
  for (const DeviceScope& part : device_scopes(design, names)) {
    all.push_back(implement_one(hardware_folder, part, number, wrapper));
    all.back().predicted = design::device_cost(design, part.device);
  }
  return all;
}

}  // namespace mase::emit
