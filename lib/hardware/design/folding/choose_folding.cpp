// SPDX-License-Identifier: Apache-2.0
// The search for a folding.
//
// Under an interval every step needs an own interval at most that long, and the cost of a design is
// the sum of its steps' costs, so the cheapest fold of each step is the cheapest design: exact.
// What couples steps are the width converters between different lanes: from the exact answer a
// descent changes one step at a time while steps plus converters get cheaper.
//
// Under resource limits the shortest interval that fits is found by bisection over the intervals
// that occur (a longer interval allows every fold of a shorter one, so fitting is monotone). For
// one interval the sets of (LUT, DSP, BRAM) of the steps are added up step by step; sums that
// exceed a limit even with the cheapest rest, and sums that another one beats in every limited
// resource and in area, are dropped: neither can be part of the best answer, so this is exact too.
// Where too many sums are left the answer is one that is near, with a bound that says how near.
//
// Plumbing is known only when folds are, and the FIFOs of a large network only after minutes. So
// folds are chosen with the converters and forks of the last choice reserved, until those that come
// of it fit as well; only then FIFOs are sized, and what they take is reserved for another choice.
#include "hardware/design/folding/choose_folding.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hardware/design/build.hpp"
#include "hardware/design/building/size_fifos.hpp"
#include "hardware/design/folding/fold_merge.hpp"
#include "hardware/design/folding/fold_options.hpp"
#include "hardware/design/folding/fold_relaxation.hpp"
#include "hardware/design/step_table.hpp"

namespace mase::design {
namespace {

struct Choice {
  Folding folding;
  std::optional<Design> design = std::nullopt;  ///< under limits, which it had to be built for
};

class Search {
 public:
  Search(std::shared_ptr<const Program> program, const Target& target)
      : shared_(std::move(program)), program_(*shared_), target_(target) {
    check_layers();
  }

  Choice run() {
    const Limits limits(target_);
    const bool bounded = limits.any() && !target_.initiation_interval;
    const std::int64_t interval = bounded ? any_interval : wanted_interval();
    load(interval);
    if (limits.any()) return within(limits, bounded);
    const std::int64_t taken = is_default() ? balanced(interval) : interval;
    return {.folding = folding(smooth(cheapest(taken), taken, Limits({})))};
  }

  /// The step that limits the interval when everything is unfolded, and that interval.
  std::pair<std::string, std::int64_t> fastest() const {
    std::pair<std::string, std::int64_t> slowest{"", 1};
    for (const Step& step : program_.steps) {
      const std::int64_t interval = fastest_interval(program_, step, space(step));
      if (interval > slowest.second) slowest = {step.name, interval};
    }
    return slowest;
  }

 private:
  static std::size_t at(int id) { return static_cast<std::size_t>(id); }

  void check_layers() const {
    for (const auto& [layer, fold] : target_.layers) {
      const auto it = std::find_if(program_.steps.begin(), program_.steps.end(),
                                   [&](const Step& step) { return step.name == layer; });
      if (it == program_.steps.end()) {
        std::vector<std::string> names;
        for (const Step& step : program_.steps) names.push_back(step.name);
        config_error("parallelism is set for '" + layer + "', which has no hardware" +
                     did_you_mean(layer, names, "; layers with hardware: " + join(names, ", ")));
      }
      Fold complete = fold;
      const FoldRule rule = step_row(*it).rule(program_, *it, fold);
      if (complete.in_lanes == 0)
        complete.in_lanes = rule.same && fold.out_lanes ? fold.out_lanes : rule.in_unit;
      if (complete.out_lanes == 0) complete.out_lanes = rule.same ? complete.in_lanes : 1;
      if (fold.in_lanes == 0) check_least(layer, complete.in_lanes);
      check_fold(program_, *it, complete);
    }
  }

  /// A layer whose other settings leave it fewer choices may have none under the bound of all.
  void check_least(const std::string& layer, std::int64_t lanes) const {
    if (!target_.max_lanes || lanes <= *target_.max_lanes) return;
    config_error("parallelism of '" + layer + "': simd (input lanes) is at least " +
                 std::to_string(lanes) + ", above max_parallelism = " +
                 std::to_string(*target_.max_lanes) + "; raise it or set the simd of the layer");
  }

  /// Under limits DSP blocks and LUTs are alternatives that the search weighs against each other.
  FoldSpace space(const Step& step) const {
    FoldSpace space;
    space.multipliers = {target_.multiplier};
    if (Limits(target_).any() && target_.multiplier == Multiplier::automatic)
      space.multipliers.push_back(Multiplier::fabric);
    if (target_.max_lanes) space.max_lanes = *target_.max_lanes;
    const std::optional<bool> packing = packing_wanted(step);
    if (packing.value_or(true)) space.block = target_.block;
    space.always_packed = packing.value_or(false);
    const auto it = target_.layers.find(step.name);
    if (it == target_.layers.end()) return space;
    space.fixed = it->second;
    if (space.fixed.multiplier != Multiplier::automatic)
      space.multipliers = {space.fixed.multiplier};
    return space;
  }

  std::optional<bool> packing_wanted(const Step& step) const {
    const auto it = target_.layer_packing.find(step.name);
    return it == target_.layer_packing.end() ? target_.packing : it->second;
  }

  /// One element per cycle at the ports, and at most about 256 multipliers.
  std::int64_t default_interval() const {
    std::int64_t interval = 1, products = 0;
    for (const auto& ids : {program_.inputs, program_.outputs})
      for (integer::ValueId id : ids) interval = std::max(interval, program_.value(id).elements());
    for (const Step& step : program_.steps) products += multiplications(program_, step);
    return std::max(interval, (products + 255) / 256);
  }

  bool is_default() const { return !target_.initiation_interval && !target_.max_lanes; }

  std::int64_t wanted_interval() const {
    if (target_.initiation_interval) return *target_.initiation_interval;
    return std::max(target_.max_lanes ? 1 : default_interval(), fastest().second);
  }

  /// Options of every step under an interval. Error(Fault::goal) when a step has none.
  void load(std::int64_t interval) {
    const auto [name, least_interval] = fastest();
    if (least_interval > interval)
      throw Error(Fault::goal, "an initiation interval of " + std::to_string(interval) +
                                   " cannot be had: '" + name + "' needs at least " +
                                   std::to_string(least_interval));
    for (const Step& step : program_.steps)
      options_.push_back(fold_options(program_, step, space(step), allowed(step, interval)));
  }

  /// What one step may take: the interval less the slack, but never less than it can.
  std::int64_t allowed(const Step& step, std::int64_t interval) const {
    if (target_.slack == 0) return interval;
    const std::int64_t least = fastest_interval(program_, step, space(step));
    return std::max(interval - target_.slack, least);
  }

  /// The cheapest option of every step that takes at most `interval`; it has one.
  FoldOptions cheapest(std::int64_t interval) const {
    FoldOptions chosen;
    for (const FoldOptions& options : options_) {
      const FoldOption* best = nullptr;
      for (const FoldOption& option : options)
        if (option.interval <= interval && (!best || cheaper(option, *best))) best = &option;
      MASE_CHECK(best, "a step without a fold for the interval");
      chosen.push_back(*best);
    }
    return chosen;
  }

  /// A few layers that are slower than all others hold a whole design up: the shortest interval for
  /// which the steps take at most a twentieth more than for the one given.
  std::int64_t balanced(std::int64_t interval) const {
    constexpr double more = 1.05;
    const auto area_of = [&](std::int64_t cycles) {
      double sum = 0;
      for (const FoldOption& option : cheapest(cycles)) sum += option.area;
      return sum;
    };
    std::int64_t least = 1;  // that every step can have
    std::set<std::int64_t> distinct;
    for (const FoldOptions& options : options_) {
      std::int64_t fastest_of_step = interval;
      for (const FoldOption& option : options) {
        fastest_of_step = std::min(fastest_of_step, option.interval);
        distinct.insert(option.interval);
      }
      least = std::max(least, fastest_of_step);
    }
    const std::vector<std::int64_t> intervals(distinct.lower_bound(least),
                                              distinct.lower_bound(interval));
    const double most = more * area_of(interval);
    // The area falls as the interval grows.
    const auto first = std::ranges::partition_point(
        intervals, [&](std::int64_t cycles) { return area_of(cycles) > most; });
    return first == intervals.end() ? interval : *first;
  }

  // Width converters.

  double converter(integer::ValueId id, std::int64_t from, std::int64_t to, std::int64_t interval) {
    if (from == to) return 0;
    const StreamValue& value = program_.value(id);
    const bool fast = value.elements() / std::gcd(from, to) <= interval;
    const auto [it, fresh] = converters_.try_emplace({value.type.width, from, to, fast}, 0.0);
    if (fresh) it->second = std::max(1.0, area(resize_cost(value, from, to, interval)));
    return it->second;
  }

  std::int64_t lanes_in(std::size_t step, const Fold& fold, std::size_t port) const {
    return step_row(program_.steps[step]).input_lanes(program_.steps[step], fold, port);
  }

  /// Converters at the ports of a step under a fold, its neighbours as chosen.
  double converters_at(std::size_t step, const Fold& fold, const FoldOptions& chosen,
                       std::int64_t interval) {
    const Step& self = program_.steps[step];
    double sum = 0;
    for (std::size_t port = 0; port < self.inputs.size(); ++port)
      if (const int from = producer_[at(self.inputs[port])]; from >= 0)
        sum += converter(self.inputs[port],
                         output_lanes(program_, program_.steps[at(from)], chosen[at(from)].fold),
                         lanes_in(step, fold, port), interval);
    for (const auto& [to, port] : consumers_[step])
      sum += converter(self.output, output_lanes(program_, self, fold),
                       lanes_in(at(to), chosen[at(to)].fold, port), interval);
    return sum;
  }

  void find_neighbours() {
    producer_.assign(program_.values.size(), -1);
    for (std::size_t s = 0; s < program_.steps.size(); ++s)
      producer_[at(program_.steps[s].output)] = static_cast<int>(s);
    consumers_.assign(program_.steps.size(), {});
    for (std::size_t s = 0; s < program_.steps.size(); ++s)
      for (std::size_t port = 0; port < program_.steps[s].inputs.size(); ++port)
        if (const int from = producer_[at(program_.steps[s].inputs[port])]; from >= 0)
          consumers_[at(from)].emplace_back(static_cast<int>(s), port);
  }

  /// Descent over one step at a time; folds stay within the interval and the limits of all steps.
  FoldOptions smooth(FoldOptions chosen, std::int64_t interval, const Limits& limits) {
    find_neighbours();
    Cost whole = sum_of(chosen);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t s = 0; s < chosen.size(); ++s) {
        double best = chosen[s].area + converters_at(s, chosen[s].fold, chosen, interval);
        for (const FoldOption& option : options_[s]) {
          if (option.area >= best || option.interval > interval) continue;
          Cost exchanged = whole;
          exchanged += scaled(chosen[s].cost, -1);
          exchanged += option.cost;
          if (!limits.fits(exchanged)) continue;
          const double sum = option.area + converters_at(s, option.fold, chosen, interval);
          if (sum >= best) continue;
          best = sum;
          chosen[s] = option;
          whole = exchanged;
          changed = true;
        }
      }
    }
    return chosen;
  }

  Folding folding(const FoldOptions& chosen) const {
    Folding result;
    for (std::size_t s = 0; s < chosen.size(); ++s) result[program_.steps[s].name] = chosen[s].fold;
    return result;
  }

  // Resource limits.

  /// Folds whose steps, converters and forks fit what is left of the limits.
  struct Fit {
    Folding folding;
    Cost cost;
    std::int64_t interval;
    bool proven = true;  ///< that no others are better, but for the plumbing
    double area_gap;     ///< how much smaller others can be at most
  };

  static std::int64_t slowest(const FoldOptions& chosen) {
    std::int64_t interval = 1;
    for (const FoldOption& option : chosen) interval = std::max(interval, option.interval);
    return interval;
  }

  /// What `whole` is larger than a part of it; nowhere negative.
  static Cost beyond(const Cost& whole, const Cost& part) {
    return {std::max(whole.lut - part.lut, 0.0), 0, 0, std::max(whole.dsp - part.dsp, 0.0),
            std::max(whole.bram - part.bram, 0.0)};
  }

  /// The best folding under limits; what more a sized design takes is reserved and the search
  /// repeated.
  Choice within(const Limits& limits, bool bounded) {
    constexpr int attempts = 8;
    Cost reserved;
    std::optional<Cost> nearest;
    const auto fits = [&](const Design& design, const Fit& fit) {
      const Cost whole = cost(design), more = beyond(whole, fit.cost);
      nearest = whole;
      reserved = {std::max(reserved.lut, more.lut), 0, 0, std::max(reserved.dsp, more.dsp),
                  std::max(reserved.bram, more.bram)};
      return limits.fits(whole);
    };
    for (int attempt = 0; attempt < attempts; ++attempt) {
      Limits remaining = limits;
      remaining.reserve(reserved);
      const auto fit = bounded ? fastest_within(remaining) : fit_at(any_interval, remaining, merge);
      if (!fit) break;
      const Folding staged = with_pipeline_stages(assemble(shared_, fit->folding), target_.clock);
      Design rough = assemble(shared_, staged, nullptr, Images::empty);
      open_fifos(rough);
      if (!fits(rough, *fit)) continue;
      Design design = build(shared_, staged);
      if (!fits(design, *fit)) continue;
      design.gap = gap(*fit, limits, bounded);
      return {fit->folding, std::move(design)};
    }
    refuse(limits, nearest);
  }

  /// Folds for an interval that fit with their converters and forks, but without FIFOs: the
  /// plumbing of one choice is reserved for the next. Nothing when none of these fits.
  std::optional<Fit> fit_at(std::int64_t interval, const Limits& limits, Merge merge) {
    constexpr int rounds = 4;
    Limits remaining = limits;
    proven_ = true;
    for (int round = 0; round < rounds; ++round) {
      const Merged chosen = merge(steps(interval, remaining), remaining);
      proven_ = chosen.proven && round == 0;
      if (!chosen) break;
      const FoldOptions smoothed = smooth(*chosen, slowest(*chosen), remaining);
      const Cost sum = sum_of(smoothed);
      Fit fit{folding(smoothed), cost(assemble(shared_, folding(smoothed), nullptr, Images::empty)),
              slowest(smoothed), chosen.proven, std::max(0.0, 1 - chosen.least_area / area(sum))};
      if (limits.fits(fit.cost)) return fit;
      remaining = limits;
      remaining.reserve(beyond(fit.cost, sum));
    }
    return std::nullopt;
  }

  /// The options of all steps that are of use under an interval; none for a step without any.
  std::vector<FoldOptions> steps(std::int64_t interval, const Limits& limits) const {
    std::vector<FoldOptions> steps;
    for (const FoldOptions& all : options_) {
      FoldOptions fast;
      for (const FoldOption& option : all)
        if (option.interval <= interval) fast.push_back(option);
      steps.push_back(undominated(std::move(fast), limits));
    }
    return steps;
  }

  std::vector<std::int64_t> intervals() const {
    std::int64_t least_of_all = 1;
    std::set<std::int64_t> distinct;
    for (const FoldOptions& options : options_) {
      std::int64_t fastest = any_interval;
      for (const FoldOption& option : options) {
        distinct.insert(option.interval);
        fastest = std::min(fastest, option.interval);
      }
      least_of_all = std::max(least_of_all, fastest);
    }
    return {distinct.lower_bound(least_of_all), distinct.end()};
  }

  /// Proven when the steps of nothing faster fit, whatever their area.
  std::optional<Fit> fastest_within(const Limits& limits) {
    const std::vector<std::int64_t> all = intervals();
    bool proven = true;
    const auto first = std::ranges::partition_point(all, [&](std::int64_t interval) {
      const auto fit = fit_at(interval, limits, fitting);
      proven = proven && (fit || proven_);
      return !fit;
    });
    if (first == all.end()) return std::nullopt;
    auto best = fit_at(*first, limits, merge);
    if (!best) best = fit_at(*first, limits, fitting);
    best->proven = proven;
    return best;
  }

  /// How much better others can be at most than a choice that is not known to be the best.
  std::optional<double> gap(const Fit& fit, const Limits& limits, bool bounded) const {
    if (fit.proven) return std::nullopt;
    if (!bounded) return fit.area_gap;
    const std::vector<std::int64_t> all = intervals();
    const auto least = std::ranges::partition_point(all, [&](std::int64_t interval) {
      return Relaxation(steps(interval, limits), limits).impossible();
    });
    return std::max(0.0, 1 - static_cast<double>(*least) / static_cast<double>(fit.interval));
  }

  /// `nearest`: of a design that was as good as any.
  [[noreturn]] void refuse(const Limits& limits, const std::optional<Cost>& nearest) const {
    Cost least_cost;
    for (const FoldOptions& options : options_) least_cost += least(options);
    const auto parts = [&](const Cost& cost) {
      const auto part = [](const char* name, double limit, double need) {
        if (limit == Limits::unlimited) return std::string();
        return std::string(" ") + name + " " + fixed_text(need, 0) + " (limit " +
               fixed_text(limit, 0) + ")";
      };
      return part("lut", limits.lut, cost.lut) + part("dsp", limits.dsp, cost.dsp) +
             part("bram", limits.bram, cost.bram);
    };
    std::string text = "the design does not fit its limits; its layers alone need at least" +
                       parts(least_cost) + ", each of these at the expense of the others";
    if (nearest) text += "; the nearest design that was tried has" + parts(*nearest);
    throw Error(Fault::goal, text);
  }

  std::shared_ptr<const Program> shared_;
  bool proven_ = true;  ///< that nothing fitted where the last one of fit_at found nothing
  const Program& program_;
  const Target& target_;
  std::vector<FoldOptions> options_;
  std::vector<int> producer_;  ///< step of every value, -1 for inputs
  std::vector<std::vector<std::pair<int, std::size_t>>> consumers_;  ///< ports behind every step
  std::map<std::tuple<int, std::int64_t, std::int64_t, bool>, double> converters_;
};

}  // namespace

Folding choose_folding(const Program& program, const Target& target) {
  const std::shared_ptr<const Program> borrowed(std::shared_ptr<void>(), &program);
  return Search(borrowed, target).run().folding;
}

Design build_for(const std::shared_ptr<const Program>& program, const Target& target) {
  Target attempt = target;
  for (;;) {
    Choice choice = Search(program, attempt).run();
    // Pipeline stages are those of the modules' own paths, which the depths of the FIFOs do not
    // change: sizing those comes after.
    Design design =
        choice.design
            ? std::move(*choice.design)
            : build(program, with_pipeline_stages(assemble(program, choice.folding), target.clock));
    const std::int64_t wanted = target.initiation_interval.value_or(design.timing.interval);
    if (design.timing.interval <= wanted) return design;
    // Beyond half of the interval steps become many times as large as they need to be.
    if (attempt.slack >= std::max<std::int64_t>(wanted / 2, std::min<std::int64_t>(wanted, 64)))
      throw Error(Fault::goal, "an initiation interval of " + std::to_string(wanted) +
                                   " cannot be had; the nearest design has " +
                                   std::to_string(design.timing.interval));
    attempt.slack += std::max(design.timing.interval - wanted, wanted / 64);
  }
}

}  // namespace mase::design
