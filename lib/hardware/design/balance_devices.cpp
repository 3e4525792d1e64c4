// SPDX-License-Identifier: Apache-2.0
// Two dynamic programs over the cuts: the least largest area, then the fewest bits within it.
#include "hardware/design/balance_devices.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "hardware/design/building/node_metadata.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/folding/fold_options.hpp"

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

/// The area of every unit, without what lies between layers.
std::vector<double> unit_areas(const Design& design, const Units& units) {
  std::map<std::string, double> by_layer;
  for (const Instance& instance : design.instances)
    by_layer[instance.layer] += area(instance_cost(design, instance));
  std::vector<double> areas(units.count());
  for (std::size_t s = 0; s < design.program->steps.size(); ++s) {
    double& layer = by_layer[design.program->steps[s].layer];
    areas[units.of(s)] += std::exchange(layer, 0);
  }
  return areas;
}

/// A value, the unit where it is, and those that read it.
struct Carried {
  std::size_t made;
  std::vector<std::size_t> readers;  ///< ascending
  double bits;
};

std::vector<Carried> carried_values(const Design& design, const Units& units) {
  const Program& program = *design.program;
  std::map<ValueId, Carried> values;
  const auto add = [&](StreamId stream, ValueId value, std::size_t made) {
    values[value] = {made, {}, static_cast<double>(design.stream(stream).width())};
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
  explicit Stretches(const Design& design, const Units& units)
      : areas_(units.count() + 1), bits_(units.count()) {
    const std::vector<double> areas = unit_areas(design, units);
    for (std::size_t u = 0; u < areas.size(); ++u) areas_[u + 1] = areas_[u] + areas[u];
    const std::vector<Carried> values = carried_values(design, units);
    for (std::size_t begin = 0; begin < units.count(); ++begin) {
      bits_[begin].assign(units.count() + 1, 0);
      for (const Carried& value : values) {
        const auto reader = std::ranges::lower_bound(value.readers, begin);
        if (value.made < begin && reader != value.readers.end())
          bits_[begin][*reader + 1] += value.bits;
      }
      for (std::size_t end = begin + 1; end <= units.count(); ++end)
        bits_[begin][end] += bits_[begin][end - 1];
    }
  }
  std::size_t units() const { return bits_.size(); }
  double area(std::size_t begin, std::size_t end) const { return areas_[end] - areas_[begin]; }
  /// What the links into them carry in a beat.
  double bits(std::size_t begin, std::size_t end) const { return bits_[begin][end]; }

 private:
  std::vector<double> areas_;              ///< of all units before
  std::vector<std::vector<double>> bits_;  ///< by begin and end
};

/// What is made small: first, then second.
using Goal = std::pair<double, double>;
constexpr double never = std::numeric_limits<double>::infinity();

/// The ends of `count` parts with the least goal; `with(goal, begin, end)` is the goal with one
/// more part, and does not become less.
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
        const Goal now = with(before, begin, end);
        if (now < best[part][end].goal) best[part][end] = {now, begin};
      }
  goal = best[count][units].goal;
  std::vector<std::size_t> ends;
  for (std::size_t part = count, end = units; part > 0; end = best[part--][end].begin)
    ends.insert(ends.begin(), end);
  return ends;
}

std::vector<std::size_t> balanced_ends(const Stretches& parts, std::size_t count) {
  Goal least;
  best_ends(parts.units(), count, least, [&](const Goal& goal, std::size_t begin, std::size_t end) {
    return Goal{std::max(goal.first, parts.area(begin, end)), 0};
  });
  const double most = least.first * (1 + balance_slack);
  return best_ends(
      parts.units(), count, least, [&](const Goal& goal, std::size_t begin, std::size_t end) {
        const double area = parts.area(begin, end);
        return area > most ? Goal{never, never}
                           : Goal{goal.first + parts.bits(begin, end), std::max(goal.second, area)};
      });
}

}  // namespace

Distribution balance_devices(const Design& design, std::int64_t devices) {
  const Program& program = *design.program;
  const Units units(program);
  if (devices > static_cast<std::int64_t>(units.count()))
    config_error("devices is " + std::to_string(devices) + ", but the design can be cut into " +
                 std::to_string(units.count()) + " parts at most, since a layer is not cut");
  const auto ends = balanced_ends(Stretches(design, units), static_cast<std::size_t>(devices));
  Distribution distribution;
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    distribution.devices[program.steps[s].layer] =
        static_cast<int>(std::ranges::upper_bound(ends, units.of(s)) - ends.begin());
  return distribution;
}

}  // namespace mase::design
