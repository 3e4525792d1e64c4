// SPDX-License-Identifier: Apache-2.0
// Dynamic programs over the cuts, one for each thing that is wanted of them, within those before.
#include "hardware/design/balance_devices.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hardware/design/build.hpp"
#include "hardware/design/building/node_metadata.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/folding/fold_options.hpp"
#include "hardware/design/modules/link.hpp"

namespace mase::design {
namespace {

using integer::Program;
using integer::Step;
using integer::ValueId;

/// Steps that must be on one device, one unit behind the other.
class Units {
 public:
  explicit Units(const Program& program) {
    std::map<std::string, std::size_t> last;  // step of every layer
    for (std::size_t s = 0; s < program.steps.size(); ++s) last[program.steps[s].layer] = s;
    std::size_t end = 0;
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
      end = std::max(end, last.at(program.steps[s].layer));
      of_step_.push_back(count_);
      if (s == end) ++count_;
    }
  }
  std::size_t count() const { return count_; }
  std::size_t of(std::size_t step) const { return of_step_[step]; }

 private:
  std::size_t count_ = 0;
  std::vector<std::size_t> of_step_;
};

/// What every unit takes, without what lies between layers.
std::vector<Cost> unit_costs(const Design& design, const Units& units) {
  std::map<std::string, Cost> by_layer;
  for (const Instance& instance : design.instances)
    by_layer[instance.layer] += instance_cost(design, instance);
  std::vector<Cost> costs(units.count());
  for (std::size_t s = 0; s < design.program->steps.size(); ++s)
    costs[units.of(s)] += std::exchange(by_layer[design.program->steps[s].layer], {});
  return costs;
}

/// A value, the unit where it is, and those that read it.
struct Carried {
  std::size_t made;
  std::vector<std::size_t> readers;  ///< ascending
  double bits;
  std::int64_t cycles;  ///< of a link, for a frame
};

std::vector<Carried> carried_values(const Design& design, const Units& units,
                                    const LinkSettings& links) {
  const Program& program = *design.program;
  std::map<ValueId, Carried> values;
  const auto add = [&](StreamId stream, ValueId value, std::size_t made) {
    const Stream& carried = design.stream(stream);
    values[value] = {made, {}, static_cast<double>(carried.width()), link_cycles(carried, links)};
  };
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    add(design.inputs[i], program.inputs[i], units.count());
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    if (const Instance* instance = main_instance(design, program.steps[s]))
      add(instance->outputs[0], program.steps[s].output, units.of(s));
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    for (const ValueId value : program.steps[s].inputs) {
      Carried& carried = values.at(value);
      carried.readers.push_back(units.of(s));
      carried.made = std::min(carried.made, units.of(s));  // an input comes to its first reader
    }
  std::vector<Carried> list;
  for (auto& [value, carried] : values) list.push_back(std::move(carried));
  return list;
}

/// What the units from `begin` to before `end` take together.
class Stretches {
 public:
  Stretches(const Design& design, const Units& units, const CutDemands& demands)
      : demands_(demands), costs_(unit_costs(design, units)), into_(units.count()) {
    const std::vector<Carried> values = carried_values(design, units, demands.links);
    for (std::size_t begin = 0; begin < units.count(); ++begin) {
      into_[begin].resize(units.count() + 1);
      for (const Carried& value : values) {
        const auto reader = std::ranges::lower_bound(value.readers, begin);
        if (value.made < begin && reader != value.readers.end())
          into_[begin][*reader + 1] += {value.bits, value.cycles};
      }
      for (std::size_t end = begin + 1; end <= units.count(); ++end)
        into_[begin][end] += into_[begin][end - 1];
    }
  }
  std::size_t units() const { return costs_.size(); }
  Cost cost(std::size_t device, std::size_t begin, std::size_t end) const {
    Cost total = device < demands_.taken.size() ? demands_.taken[device] : Cost();
    for (std::size_t u = begin; u < end; ++u) total += costs_[u];
    return total;
  }
  double size(std::size_t device, std::size_t begin, std::size_t end) const {
    const Cost all = cost(device, begin, end);
    const DeviceLimits& limits = demands_.limits;
    return limits.empty() ? area(all) : limits.load(static_cast<int>(device), all);
  }
  /// What the links into them carry in a beat.
  double bits(std::size_t begin, std::size_t end) const { return into_[begin][end].bits; }
  /// What the slowest of these takes for a frame, or what it may take.
  double interval(std::size_t begin, std::size_t end) const {
    return static_cast<double>(std::max(into_[begin][end].cycles, demands_.interval));
  }

 private:
  struct Links {
    double bits = 0;
    std::int64_t cycles = 0;  ///< of the slowest
    Links& operator+=(const Links& other) {
      bits += other.bits;
      cycles = std::max(cycles, other.cycles);
      return *this;
    }
  };
  const CutDemands& demands_;
  std::vector<Cost> costs_;
  std::vector<std::vector<Links>> into_;  ///< by begin and end
};

/// What is made small: first, then second.
using Goal = std::pair<double, double>;
constexpr double never = std::numeric_limits<double>::infinity();

/// The ends of `count` parts with the least goal; `with(goal, part, begin, end)` is the goal with
/// one more part, and does not become less.
template <class With>
std::vector<std::size_t> best_ends(std::size_t units, std::size_t count, Goal& goal, With with) {
  struct Best {
    Goal goal{never, never};
    std::size_t begin = 0;
  };
  std::vector<std::vector<Best>> best(count + 1, std::vector<Best>(units + 1));
  best[0][0].goal = {0, 0};
  for (std::size_t part = 1; part <= count; ++part)
    for (std::size_t end = part; end <= units; ++end)
      for (std::size_t begin = part - 1; begin < end; ++begin) {
        const Goal& before = best[part - 1][begin].goal;
        if (before.first == never) continue;
        const Goal now = with(before, part - 1, begin, end);
        if (now < best[part][end].goal) best[part][end] = {now, begin};
      }
  goal = best[count][units].goal;
  std::vector<std::size_t> ends;
  for (std::size_t part = count, end = units; part > 0; end = best[part--][end].begin)
    ends.insert(ends.begin(), end);
  return ends;
}

using Ends = std::vector<std::size_t>;

/// What the parts of a cut may be at most.
struct Bounds {
  double size = never, interval = never;
  bool allow(const Stretches& parts, std::size_t part, std::size_t begin, std::size_t end) const {
    return parts.size(part, begin, end) <= size && parts.interval(begin, end) <= interval;
  }
};

/// The least largest value of `what(part, begin, end)` among the cuts within the bounds; `never`
/// where there are none.
template <class What>
double least_largest(const Stretches& parts, std::size_t count, const Bounds& bounds, Ends& ends,
                     What what) {
  Goal least;
  ends = best_ends(parts.units(), count, least,
                   [&](const Goal& goal, std::size_t part, std::size_t begin, std::size_t end) {
                     if (!bounds.allow(parts, part, begin, end)) return Goal{never, never};
                     return Goal{std::max(goal.first, what(part, begin, end)), 0};
                   });
  return least.first;
}

/// The name of the first layer of a unit.
std::string layer_of(const Design& design, const Units& units, std::size_t unit) {
  for (std::size_t s = 0; s < design.program->steps.size(); ++s)
    if (units.of(s) == unit) return design.program->steps[s].layer;
  return "";
}

/// Names a layer that is larger than every device, which more devices do not help.
void refuse_large_layer(const Design& design, const Units& units, const Stretches& parts,
                        std::size_t devices, const DeviceLimits& limits) {
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    std::size_t least = 0;
    for (std::size_t device = 1; device < devices; ++device)
      if (parts.size(device, unit, unit + 1) < parts.size(least, unit, unit + 1)) least = device;
    const std::string excess =
        limits.excess_text(static_cast<int>(least), parts.cost(least, unit, unit + 1));
    if (excess.empty()) continue;
    config_error("no device holds layer '" + layer_of(design, units, unit) +
                 "', and a layer is not cut: on device " + std::to_string(least) + " it " + excess +
                 "; raise the limit, or fold the design further by a larger "
                 "initiation_interval or a smaller lut, dsp or bram");
  }
}

/// Names all parts that are beyond their limits in the cut that comes nearest to them.
[[noreturn]] void refuse_limits(const Design& design, const Units& units, const Stretches& parts,
                                const Ends& ends, const DeviceLimits& limits) {
  std::vector<std::string> texts;
  for (std::size_t part = 0, begin = 0; part < ends.size(); begin = ends[part++]) {
    const std::string excess =
        limits.excess_text(static_cast<int>(part), parts.cost(part, begin, ends[part]));
    if (excess.empty()) continue;
    std::string first, last;
    for (std::size_t s = 0; s < design.program->steps.size(); ++s) {
      if (units.of(s) < begin || units.of(s) >= ends[part]) continue;
      last = design.program->steps[s].layer;
      if (first.empty()) first = last;
    }
    texts.push_back("device " + std::to_string(part) + " (" + first +
                    (first == last ? "" : " to " + last) + ") " + excess);
  }
  config_error("no cut into " + std::to_string(ends.size()) +
               " devices keeps within their limits: in the one that comes nearest, " +
               join(texts, ", and ") + limits_remedy);
}

Ends balanced_ends(const Design& design, const Units& units, std::size_t count,
                   const CutDemands& demands) {
  const Stretches parts(design, units, demands);
  const auto size = [&](std::size_t part, std::size_t begin, std::size_t end) {
    return parts.size(part, begin, end);
  };
  Ends ends;
  Bounds bounds;
  if (!demands.limits.empty()) {
    bounds.size = 1;
    if (least_largest(parts, count, {}, ends, size) > 1) {
      refuse_large_layer(design, units, parts, count, demands.limits);
      refuse_limits(design, units, parts, ends, demands.limits);
    }
  }
  bounds.interval = least_largest(
      parts, count, bounds, ends,
      [&](std::size_t, std::size_t begin, std::size_t end) { return parts.interval(begin, end); });
  const double least = least_largest(parts, count, bounds, ends, size);
  bounds.size = std::min(bounds.size, least * (1 + balance_slack));
  Goal goal;
  return best_ends(parts.units(), count, goal,
                   [&](const Goal& before, std::size_t part, std::size_t begin, std::size_t end) {
                     if (!bounds.allow(parts, part, begin, end)) return Goal{never, never};
                     return Goal{before.first + parts.bits(begin, end),
                                 std::max(before.second, parts.size(part, begin, end))};
                   });
}

/// What lies between the layers of a device, the ends of its links among it.
Cost cost_beside_layers(const Design& design, int device) {
  Cost total;
  for (const Instance& instance : design.instances)
    if (instance.device == device && instance.layer.empty())
      total += instance_cost(design, instance);
  return total;
}

}  // namespace

Distribution balance_devices(const Design& design, std::int64_t devices,
                             const CutDemands& demands) {
  const Program& program = *design.program;
  const Units units(program);
  if (devices > static_cast<std::int64_t>(units.count()))
    config_error("devices is " + std::to_string(devices) + ", but the design can be cut into " +
                 std::to_string(units.count()) + " parts at most, since a layer is not cut");
  demands.limits.check_numbers({static_cast<int>(devices) - 1});
  const Ends ends = balanced_ends(design, units, static_cast<std::size_t>(devices), demands);
  Distribution distribution;
  distribution.links = demands.links;
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    distribution.devices[program.steps[s].layer] =
        static_cast<int>(std::ranges::upper_bound(ends, units.of(s)) - ends.begin());
  return distribution;
}

Design build_balanced(const Design& design, std::int64_t devices, CutDemands demands) {
  demands.taken.resize(static_cast<std::size_t>(devices));
  for (;;) {
    const Distribution distribution = balance_devices(design, devices, demands);
    Design built = build(design.program, design.folding, distribution);
    bool more = false, fits = true;
    for (const int device : built.devices()) {
      fits = fits && demands.limits.load(device, device_cost(built, device)) <= 1;
      Cost& taken = demands.taken[static_cast<std::size_t>(device)];
      const Cost beside = cost_beside_layers(built, device);
      for (const Resource& resource : resources) {
        more = more || beside.*resource.amount > taken.*resource.amount;
        taken.*resource.amount = std::max(taken.*resource.amount, beside.*resource.amount);
      }
    }
    if (fits || !more) return built;
  }
}

}  // namespace mase::design
