// SPDX-License-Identifier: Apache-2.0
// Delays of paths, and the search for the longest one.
#include "hardware/design/clock.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/targets/ecp5.hpp"
#include "hardware/design/targets/xc7.hpp"

namespace mase::design {
namespace {

constexpr std::array technologies{ecp5_delays, xc7_delays};

/// What every pipeline has: the ready of the skid at its end moves all of its registers.
Path enable_path(const Cost& cost) {
  return {.what = "enable", .luts = 1, .readers = std::max(1.0, cost.ff)};
}

using T = Technology;

constexpr std::array terms{
    DelayTerm{"from_logic", &T::from_logic,
              [](const Path& p, const Extent&) { return double(p.from == Source::logic); }},
    DelayTerm{"from_memory", &T::from_memory,
              [](const Path& p, const Extent&) { return double(p.from == Source::memory); }},
    DelayTerm{"from_multiplier", &T::from_multiplier,
              [](const Path& p, const Extent&) { return double(p.from == Source::multiplier); }},
    DelayTerm{"lut", &T::lut, [](const Path& p, const Extent&) { return p.luts; }},
    DelayTerm{"chain", &T::chain, [](const Path& p, const Extent&) { return p.chains; }},
    DelayTerm{"carry", &T::carry, [](const Path& p, const Extent&) { return p.carry; }},
    DelayTerm{"cascade", &T::cascade, [](const Path& p, const Extent&) { return p.cascades; }},
    DelayTerm{"readers", &T::readers,
              [](const Path& p, const Extent&) { return std::log2(std::max(1.0, p.readers)); }},
    DelayTerm{"extent", &T::extent,
              [](const Path&, const Extent& e) { return std::sqrt(e.kilo_luts); }},
    DelayTerm{"far", &T::far,
              [](const Path& p, const Extent& e) { return p.far * std::sqrt(e.multipliers); }},
    DelayTerm{"blocks", &T::blocks,
              [](const Path& p, const Extent&) { return std::sqrt(p.blocks); }}};

/// So many standard deviations to both sides lie nine of ten values of a normal distribution.
constexpr double nine_of_ten = 1.645;

}  // namespace

Paths paths_of(const Instance& instance, const Cost& cost, const Technology& technology) {
  Paths paths = instance.module->paths(technology);
  paths.push_back(enable_path(cost));
  return paths;
}

double excess_ns(const Instance& instance, const Cost& cost, const Technology& technology,
                 const Extent& extent, double period) {
  double sum = 0;
  for (const Path& path : paths_of(instance, cost, technology))
    sum += std::max(0.0, technology.ns(path, extent) - period);
  return sum;
}

Slowest slowest_path(const Instance& instance, const Cost& cost, const Technology& technology,
                     const Extent& extent) {
  Slowest found;
  for (const Path& path : paths_of(instance, cost, technology)) {
    const double ns = technology.ns(path, extent);
    if (ns > found.ns) found = {ns, path.what};
  }
  return found;
}

double Technology::ns(const Path& path, const Extent& size) const {
  double sum = 0;
  for (const DelayTerm& term : terms) sum += this->*term.delay * term.amount(path, size);
  return sum;
}

std::span<const DelayTerm> delay_terms() { return terms; }

std::vector<std::string> technology_names() {
  std::vector<std::string> names;
  for (const Technology& row : technologies) names.emplace_back(row.name);
  return names;
}

const Technology& technology_of(std::string_view name) {
  for (const Technology& row : technologies)
    if (row.name == name) return row;
  config_error("the clock is not predicted for '" + std::string(name) + "'; it is for " +
               join(technology_names(), ", "));
}

const Technology& staging_technology(const Technology& technology) {
  return technology.wires_of.empty() ? technology : technology_of(technology.wires_of);
}

Extent extent_of(const Cost& total) { return {total.lut / 1000, total.dsp}; }

Clock clock_of(double ns, const Technology& technology) {
  Clock found;
  found.mhz = 1000 / ns;
  found.low_mhz = found.mhz * std::exp(-nine_of_ten * technology.spread);
  found.high_mhz = found.mhz * std::exp(nine_of_ten * technology.spread);
  return found;
}

Clock clock(const Design& design, const Technology& technology) {
  std::vector<Cost> costs;
  Cost total;
  for (const Instance& instance : design.instances)
    total += costs.emplace_back(instance_cost(design, instance));
  std::vector<Slowest> instances;
  for (std::size_t i = 0; i < costs.size(); ++i)
    instances.push_back(slowest_path(design.instances[i], costs[i], technology, extent_of(total)));
  const auto worst = std::max_element(instances.begin(), instances.end(),
                                      [](const auto& a, const auto& b) { return a.ns < b.ns; });
  if (worst == instances.end()) return {};
  Clock found = clock_of(worst->ns, technology);
  found.worst = static_cast<std::size_t>(worst - instances.begin());
  found.instances = std::move(instances);
  return found;
}

std::string mhz_text(const Clock& clock) {
  const std::string text = fixed_text(clock.mhz, 0) + " MHz";
  if (clock.low_mhz == clock.high_mhz) return text;
  return text + " (" + fixed_text(clock.low_mhz, 0) + " to " + fixed_text(clock.high_mhz, 0) + ")";
}

}  // namespace mase::design
