// SPDX-License-Identifier: Apache-2.0
// Prints the paths of placed designs and the clocks predicted for them as JSON: bench_paths
// PLACED.json TECHNOLOGY, for scripts/bench/clock/clock.py, whose file it reads.
#include <iostream>
#include <string>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"
#include "hardware/design/module_table.hpp"

namespace {

using namespace mase;
using namespace mase::design;

/// An integer, or a literal as design.json has it: -64'sd128, 64'sh80, 12'd7, 8'hf0.
ParameterValue read_value(const Tree& value) {
  if (value.is_int()) return value.as_int();
  const std::string text = value.as_string();
  const std::size_t quote = text.find('\'');
  if (quote == std::string::npos) return text;
  const bool negative = text[0] == '-', is_signed = text[quote + 1] == 's';
  const std::size_t base = quote + (is_signed ? 2 : 1);
  const std::int64_t width = *parse_int(text.substr(negative ? 1 : 0, quote - (negative ? 1 : 0)));
  const std::string digits = text.substr(base + 1);
  if (text[base] == 'h' && !is_signed) return HexBits{digits, width};
  Wide magnitude = 0;  // a signed one in hexadecimal is the least of its width
  if (text[base] == 'h')
    magnitude = -(static_cast<Wide>(1) << (width - 1));
  else
    for (const char c : digits) magnitude = 10 * magnitude + (c - '0');
  return Sized{negative ? -magnitude : magnitude, static_cast<int>(width), is_signed};
}

Tree path_tree(const Path& path) {
  Tree tree = Tree::dict();
  tree["what"] = std::string(path.what);
  tree["from"] = path.from == Source::memory       ? "memory"
                 : path.from == Source::multiplier ? "multiplier"
                                                   : "logic";
  tree["luts"] = path.luts;
  tree["chains"] = path.chains;
  tree["carry"] = path.carry;
  tree["cascades"] = path.cascades;
  tree["readers"] = path.readers;
  tree["far"] = path.far;
  tree["blocks"] = path.blocks;
  return tree;
}

/// The delays that a fit begins with.
Tree delays_tree(const Technology& technology) {
  Tree tree = Tree::dict();
  tree["from_logic"] = technology.from_logic;
  tree["from_memory"] = technology.from_memory;
  tree["from_multiplier"] = technology.from_multiplier;
  tree["lut"] = technology.lut;
  tree["chain"] = technology.chain;
  tree["carry"] = technology.carry;
  tree["readers"] = technology.readers;
  tree["extent"] = technology.extent;
  tree["far"] = technology.far;
  tree["blocks"] = technology.blocks;
  return tree;
}

Tree design_tree(const Tree& entry, const Technology& technology) {
  const Extent extent{entry.at("lut").as_double() / 1000, entry.at("dsp").as_double()};
  Tree out = Tree::dict();
  out["kilo_luts"] = extent.kilo_luts;
  out["multipliers"] = extent.multipliers;
  Slowest slowest;
  for (const Tree& described : entry.at("instances").as_list()) {
    Instance instance;
    instance.name = described.at("name").as_string();
    instance.module = described.at("module").as_string();
    for (const auto& [name, value] : described.at("parameters").as_dict())
      instance.parameters.set(name, read_value(value));
    const Cost cost{.ff = described.at("ff").as_double()};
    Tree paths = Tree::list();
    for (const Path& path : paths_of(instance, cost, technology)) paths.push_back(path_tree(path));
    out["instances"][instance.name] = std::move(paths);
    const Slowest found = slowest_path(instance, cost, technology, extent);
    if (found.ns <= slowest.ns) continue;
    slowest = found;
    out["slowest"] = instance.name + " " + std::string(found.what);
  }
  const Clock clock = clock_of(slowest.ns, technology);
  out["mhz"] = clock.mhz;
  out["low_mhz"] = clock.low_mhz;
  out["high_mhz"] = clock.high_mhz;
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::cerr << "usage: bench_paths PLACED.json TECHNOLOGY\n", 2;
  const Technology& technology = technology_of(argv[2]);
  Tree out = Tree::dict();
  out["delays"] = delays_tree(technology);
  const Tree placed = parse_json(read_file(argv[1]), argv[1]);
  for (const auto& [name, entry] : placed.as_dict())
    out["designs"][name] = design_tree(entry, technology);
  std::cout << to_json(out) << "\n";
}
