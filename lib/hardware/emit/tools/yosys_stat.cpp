// SPDX-License-Identifier: Apache-2.0
// One table per family says what a cell counts as.
#include "hardware/emit/tools/yosys_stat.hpp"

#include <map>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"

namespace mase::emit {
namespace {

struct CellRow {
  std::string_view name;  ///< a trailing '*' matches every continuation
  design::Cost cost;
};

constexpr design::Cost luts(double n) { return {.lut = n}; }
constexpr design::Cost ff{.ff = 1}, carry{.carry = 1}, dsp{.dsp = 1};
constexpr design::Cost bram(double n) { return {.bram = n}; }

/// AMD UG474 (7 series CLB): LUT counts of distributed memories.
const std::vector<CellRow> xc7_cells = {
    {"LUT*", luts(1)},      {"FDRE*", ff},           {"FDSE*", ff},
    {"FDCE*", ff},          {"FDPE*", ff},           {"CARRY4", carry},
    {"DSP48E1", dsp},       {"RAMB18E1", bram(0.5)}, {"RAMB36E1", bram(1)},
    {"RAM32M", luts(4)},    {"RAM64M", luts(4)},     {"RAM32X1D", luts(2)},
    {"RAM64X1D", luts(2)},  {"RAM128X1D", luts(4)},  {"RAM32X1S*", luts(1)},
    {"RAM64X1S*", luts(1)}, {"RAM128X1S*", luts(2)}, {"RAM256X1S", luts(4)},
    {"SRL16E", luts(1)},    {"SRLC32E", luts(1)}};
const std::vector<CellRow> ice40_cells = {{"SB_LUT4", luts(1)},   {"SB_DFF*", ff},
                                          {"SB_CARRY", carry},    {"SB_MAC16", dsp},
                                          {"SB_RAM40*", bram(1)}, {"SB_SPRAM*", bram(1)}};
const std::vector<CellRow> ecp5_cells = {
    {"LUT4", luts(1)},           {"TRELLIS_FF", ff},  {"CCU2C", {.lut = 2, .carry = 1}},
    {"MULT18X18D", dsp},         {"DP16KD", bram(1)}, {"PDPW16KD", bram(1)},
    {"TRELLIS_DPR16X4", luts(4)}};

const std::vector<CellRow>& rows_of(const std::string& family) {
  if (family == "ice40") return ice40_cells;
  return family == "ecp5" ? ecp5_cells : xc7_cells;
}

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return name == pattern;
}

double cell_count(const Tree& count, const std::string& cell) {
  if (!count.is_int() && !count.is_double())
    file_error("the statistics of Yosys give no number of cells " + cell);
  return count.as_double();
}

/// "fc1" of "2844 $flatten\\fc1.\\datapath.$mul$5 (DSP48E1.PCIN)" and of "\\fc1.data [3]": what
/// stands before the first '.' of a flattened name; "" where there is none.
std::string instance_of(const std::string& line) {
  for (const std::string& word : split(line, ' ')) {
    const std::size_t name = word.find('\\'), end = word.find('.');
    if (name == std::string::npos || end == std::string::npos || end < name) continue;
    const std::string before = word.substr(0, name);
    if (before.empty() || before == "$flatten") return word.substr(name + 1, end - name - 1);
  }
  return "";
}

}  // namespace

design::Cost cost_of_stat(const std::string& json, const std::string& top,
                          const std::string& family) {
  const Tree stat = parse_json(json, "the statistics of Yosys");
  const Tree* modules = stat.find("modules");
  const Tree* module = modules ? modules->find("\\" + top) : nullptr;
  const Tree* cells = module ? module->find("num_cells_by_type") : nullptr;
  if (!cells || !cells->is_dict()) file_error("the statistics of Yosys do not name module " + top);
  design::Cost total;
  for (const auto& [name, count] : cells->as_dict())
    for (const CellRow& row : rows_of(family))
      if (matches(row.name, name)) {
        total += design::scaled(row.cost, cell_count(count, name));
        break;
      }
  return total;
}

std::optional<std::int64_t> depth_of_ltp(const std::string& text) {
  constexpr std::string_view words = "(length=";
  const std::size_t start = text.rfind(words);
  if (start == std::string::npos) return std::nullopt;
  const std::size_t first = start + words.size();
  return parse_int(text.substr(first, text.find(')', first) - first));
}

std::optional<LongestPath> path_of_sta(const std::string& text) {
  constexpr std::string_view words = "Latest arrival time in '";
  const std::size_t start = text.find(words);
  if (start == std::string::npos) return std::nullopt;
  const std::vector<std::string> lines = split(text.substr(start), '\n');
  const std::string& first = lines.front();  // "... 'TOP' is 2844:"
  const auto picoseconds =
      parse_int(first.substr(first.rfind(' ') + 1, first.rfind(':') - first.rfind(' ') - 1));
  if (!picoseconds) return std::nullopt;
  LongestPath path{static_cast<double>(*picoseconds) / 1000, ""};
  for (std::size_t i = 1; i < lines.size() && !trim(lines[i]).empty(); ++i)
    if (path.instance = instance_of(lines[i]); !path.instance.empty()) break;
  return path;
}

}  // namespace mase::emit
