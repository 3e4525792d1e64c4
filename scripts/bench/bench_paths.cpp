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

/// How much of each delay a path takes, in the order of `delay_terms()`.
Tree path_tree(const Path& path, const Extent& extent) {
  Tree amounts = Tree::list();
  for (const DelayTerm& term : delay_terms()) amounts.push_back(term.amount(path, extent));
  return amounts;
}

/// The delays that a fit begins with: pairs of a name and nanoseconds.
Tree delays_tree(const Technology& technology) {
  Tree delays = Tree::list();
  for (const DelayTerm& term : delay_terms()) {
    Tree pair = Tree::list();
    pair.push_back(std::string(term.name));
    pair.push_back(technology.*term.delay);
    delays.push_back(std::move(pair));
  }
  return delays;
}

Tree design_tree(const Tree& entry, const Technology& technology) {
  const Extent extent{entry.at("lut").as_double() / 1000, entry.at("dsp").as_double()};
  Tree out = Tree::dict();
  Slowest slowest;
  for (const Tree& described : entry.at("instances").as_list()) {
    ModuleParameters parameters;
    for (const auto& [name, value] : described.at("parameters").as_dict())
      parameters.emplace_back(name, read_value(value));
    const ModuleRow& row = module_row(described.at("module").as_string());
    const Instance instance{described.at("name").as_string(), "", row.read(parameters), {}, {}};
    const Cost cost{.ff = described.at("ff").as_double()};
    Tree paths = Tree::list();
    for (const Path& path : paths_of(instance, cost, technology))
      paths.push_back(path_tree(path, extent));
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
