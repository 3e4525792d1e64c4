// SPDX-License-Identifier: Apache-2.0
// FIFO depths. Two things need room: the branches of a fork that meet again, where the short one
// must hold what it gets ahead of the long one, and steps that do not take beats evenly, as a
// folded linear that reads its inputs back.
//
// 1. With unbounded FIFOs the slowest step alone sets the interval. The design is run like that,
//    with inputs offered evenly at that interval, and the most beats in each FIFO are noted: once
//    with the modules as they are, and once with the least that they hold under any stalls.
//
// 2. With the larger of both depths the design keeps the interval and cannot deadlock: a schedule
//    that completes with the least capacities exists, and whether such a network completes does not
//    depend on timing (Kahn 1974; a bounded channel is a channel in each direction).
//
// 3. FIFOs that the skids can replace are taken out and the others shrunk by bisection, while no
//    frame gets later and the network with the least capacities completes; within a budget of work.
#include "hardware/design/building/size_fifos.hpp"

#include <algorithm>
#include <optional>
#include <ranges>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "hardware/design/modules/fifo.hpp"
#include "hardware/design/modules/link.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/schedule.hpp"

namespace mase::design {
namespace {

constexpr std::int64_t least_depth = 2;
constexpr std::int64_t unbounded = 1 << 30;
/// A FIFO of this many beats in flight is one that only passes them on: two cycles of its own.
constexpr std::int64_t in_transit = 3;
/// Cycles times instances that shrinking may cost; then the depths found so far stay.
constexpr std::int64_t shrink_budget = 1'500'000;
/// Frames to watch: the second meets the end of the first in every module.
constexpr std::size_t watched_frames = 2;

/// What took `gone` takes `kept`; the numbers above `gone` move down by one.
void join_streams(Design& design, StreamId kept, StreamId gone) {
  design.streams.erase(design.streams.begin() + gone);
  const auto rename = [&](StreamId& id) {
    if (id == gone) id = kept;
    if (id > gone) --id;
  };
  for (Instance& instance : design.instances) {
    for (StreamId& id : instance.inputs) rename(id);
    for (StreamId& id : instance.outputs) rename(id);
  }
  for (StreamId& id : design.inputs) rename(id);
  for (StreamId& id : design.outputs) rename(id);
}

}  // namespace

std::int64_t best_interval(const Design& design) {
  std::int64_t interval = 1;
  for (const Stream& stream : design.streams) interval = std::max(interval, stream.beats());
  for (const Instance& instance : design.instances)
    interval = std::max(interval, link_cycles(design, instance));
  if (!design.program) return interval;
  for (const Step& step : design.program->steps)
    interval =
        std::max(interval, step_interval(*design.program, step, design.folding.at(step.name)));
  return interval;
}

void remove_fifos(Design& design, const std::vector<std::size_t>& fifos) {
  for (const std::size_t i : std::views::reverse(fifos)) {
    const Instance fifo = design.instances[i];
    design.instances.erase(design.instances.begin() + static_cast<std::ptrdiff_t>(i));
    join_streams(design, fifo.inputs[0], fifo.outputs[0]);
  }
}

namespace {

/// Raises depths to the most beats that each FIFO of the network holds.
void raise_depths(const Design& design, Network& network, std::int64_t interval,
                  const std::vector<std::size_t>& fifos, std::vector<std::int64_t>& depths) {
  for (std::size_t i : fifos)
    network.watch(design.instances[i].inputs[0], design.instances[i].outputs[0]);
  network.input_interval = interval;
  if (!finishes(network, design, watched_frames).good)
    throw Error(Fault::internal,
                "design " + design.name + " deadlocks with unbounded FIFOs: " + network.blocked());
  for (std::size_t f = 0; f < fifos.size(); ++f)
    depths[f] = std::max(depths[f], network.most_between(f));
}

/// Changes depths while the schedule and the proof against deadlock hold.
class Fitter {
 public:
  explicit Fitter(Design& design) : design_(design), best_(schedule()), timing_(best_.timing()) {}

  /// Doubles all depths as long as that makes the interval shorter.
  void grow(const std::vector<std::size_t>& fifos, std::int64_t interval) {
    while (best_.interval > interval + interval / 64) {
      const Design before = design_;
      for (std::size_t i : fifos)
        set_depth(design_.instances[i], 2 * depth_of(design_.instances[i]));
      const Schedule grown = schedule();
      if (grown.interval >= best_.interval) {
        design_ = before;
        return;
      }
      best_ = grown;
      timing_ = grown.timing();
    }
  }

  std::optional<Timing> timing() const { return timing_; }
  bool affordable() const { return spent_ < shrink_budget; }

  /// The least depth of one FIFO, the others as they are.
  void shrink(std::size_t index) {
    std::int64_t good_depth = depth_of(design_.instances[index]), low = least_depth;
    while (low < good_depth && affordable()) {
      const std::int64_t middle = low + (good_depth - low) / 2;
      set_depth(design_.instances[index], middle);
      if (good())
        good_depth = middle;
      else
        low = middle + 1;
    }
    set_depth(design_.instances[index], good_depth);
  }

  /// Takes the FIFOs out if the design does without them; indices ascend.
  bool remove(const std::vector<std::size_t>& indices) {
    const Design with = design_;
    remove_fifos(design_, indices);
    if (good()) return true;
    design_ = with;
    return false;
  }

 private:
  Schedule schedule() {
    stop_if_asked();
    Network network(design_);
    Schedule result = run(network, design_);
    MASE_CHECK(result.deadlock.empty(), "FIFO depths deadlock: " + result.deadlock);
    return result;
  }

  bool good() {
    stop_if_asked();
    Network network(design_);
    RunResult trial = keeps_up(network, design_, best_);
    std::int64_t cycles = trial.cycles;
    if (trial.good) {
      Network least(design_, least_handshake);
      const RunResult completes = finishes(least, design_, watched_frames);
      trial.good = completes.good;
      cycles += completes.cycles;
    }
    spent_ += cycles * static_cast<std::int64_t>(design_.instances.size());
    if (trial.good) timing_ = trial.timing;
    return trial.good;
  }

  Design& design_;
  Schedule best_;
  std::optional<Timing> timing_;  ///< of the design as it is, unless it changed too much to tell
  std::int64_t spent_ = 0;
};

/// Depths with which no stream has to wait for another one, in runs of these models.
std::vector<std::int64_t> open_depths(Design& design, std::initializer_list<MakeHandshake> runs) {
  const std::vector<std::size_t> fifos = design.fifos();
  for (std::size_t i : fifos) set_depth(design.instances[i], unbounded);
  const std::int64_t interval = best_interval(design);
  std::vector<std::int64_t> depths(fifos.size(), least_depth);
  for (const MakeHandshake& make : runs) {
    Network network(design, make);
    raise_depths(design, network, interval, fifos, depths);
  }
  for (std::size_t f = 0; f < fifos.size(); ++f) set_depth(design.instances[fifos[f]], depths[f]);
  return depths;
}

}  // namespace

void open_fifos(Design& design) {
  if (!design.fifos().empty()) open_depths(design, {table_handshake});
}

void size_fifos(Design& design) {
  const std::vector<std::size_t> fifos = design.fifos();
  if (fifos.empty()) return;
  const std::int64_t interval = best_interval(design);
  const auto depths = open_depths(design, {table_handshake, least_handshake});
  std::vector<std::size_t> idle;
  for (std::size_t f = 0; f < fifos.size(); ++f)
    if (depths[f] <= in_transit) idle.push_back(fifos[f]);
  Fitter fitter(design);
  fitter.grow(fifos, interval);
  if (!idle.empty()) fitter.remove(idle);
  const std::vector<std::size_t> left = design.fifos();
  for (auto i = left.rbegin(); i != left.rend() && fitter.affordable(); ++i)
    if (!fitter.remove({*i})) fitter.shrink(*i);
  if (const auto timing = fitter.timing()) design.timing = *timing;
}

}  // namespace mase::design
