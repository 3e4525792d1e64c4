// SPDX-License-Identifier: Apache-2.0
// Latency and interval of a design, measured on its handshake models as the bench measures them in
// the RTL.
#include "hardware/design/timing/predict.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "hardware/design/building/parts.hpp"
#include "hardware/design/modules/link.hpp"
#include "hardware/design/timing/recorder.hpp"

namespace mase::design {
namespace {

/// Cycles beyond the longest fold that a module may spend without moving a beat: pipeline depths.
constexpr std::int64_t quiet_cycles = 512;
/// An output that is this many frames ahead of another one will not be caught up with.
constexpr std::size_t frames_apart = 64;

/// Counts cycles in which no beat moves, against the longest pause a working design can make.
class Watchdog {
 public:
  Watchdog(const Traffic& traffic, const Design& design)
      : limit_(quiet_cycles + traffic.input_interval) {
    for (const Stream& stream : design.streams)
      limit_ = std::max(limit_, quiet_cycles + stream.beats() + traffic.input_interval);
    for (const Instance& instance : design.instances) limit_ += link_delay(instance);
  }
  /// Cycles without a beat that may follow.
  std::int64_t left() const { return limit_ - quiet_; }
  void pass(std::int64_t cycles) { quiet_ += cycles; }
  bool stuck(std::int64_t beats) {
    quiet_ = beats > 0 ? 0 : quiet_ + 1;
    return quiet_ > limit_;
  }

 private:
  std::int64_t limit_, quiet_ = 0;
};

/// Traffic frame by frame. Once a frame of a network ends in the state in which the one before it
/// ended, all that follows is a repetition: it is written down instead of run, and nobody observes
/// it.
class Rehearsal {
 public:
  enum class Outcome { frame, late, stuck };

  Rehearsal(Network& network, const Design& design)
      : Rehearsal(static_cast<Traffic&>(network), design) {
    network_ = &network;
  }
  Rehearsal(Traffic& traffic, const Design& design)
      : traffic_(traffic), recorder_(traffic, design), watchdog_(traffic, design) {}

  /// To the end of the next frame: at most one cycle beyond `until`.
  Outcome frame(std::int64_t until = Recorder::never) {
    const std::size_t before = recorder_.frames();
    if (repeats_) {
      recorder_.repeat(until);
      return recorder_.frames() > before ? Outcome::frame : Outcome::late;
    }
    while (recorder_.frames() == before) {
      const std::int64_t beats = traffic_.step();
      recorder_.after_step();
      if (watchdog_.stuck(beats) || recorder_.most() > recorder_.frames() + frames_apart) {
        stuck_ = true;
        return Outcome::stuck;
      }
      if (recorder_.elapsed() > until) return Outcome::late;
      if (beats == 0) pass(until);
    }
    compare();
    return Outcome::frame;
  }

  const Recorder& recorder() const { return recorder_; }
  bool stuck() const { return stuck_; }

 private:
  /// Over the cycles in which nothing happens.
  void pass(std::int64_t until) {
    const std::int64_t cycles =
        std::min({traffic_.pause(), watchdog_.left(), until - recorder_.elapsed()});
    traffic_.pass(cycles);
    recorder_.pass(cycles);
    watchdog_.pass(cycles);
  }

  void compare() {
    if (!network_) return;
    repeats_ = recorder_.in_phase() && network_->is_in(state_);
    if (!repeats_) state_ = network_->state();
  }

  Traffic& traffic_;
  Network* network_ = nullptr;  ///< the same, where it is one
  Recorder recorder_;
  Watchdog watchdog_;
  bool repeats_ = false, stuck_ = false;
  Network::State state_;  ///< at the end of the last frame
};

/// A frame with so many beats makes it worth while to run a network in parts.
constexpr std::int64_t many_beats = 100'000;

bool is_large(const Design& design) {
  std::int64_t beats = 0;
  for (const Stream& stream : design.streams) beats += stream.beats();
  return beats >= many_beats;
}

/// What `judge` says of a network's rehearsal. Run part by part the network says the same, but
/// beats at its ports may be so rare that it looks stuck.
template <class Judge>
auto judged(Network& network, const Design& design, Judge judge) {
  if (is_large(design))
    if (auto parts = run_parts(network)) {
      Rehearsal rehearsal(*parts, design);
      auto result = judge(rehearsal);
      if (!rehearsal.stuck()) {
        const std::size_t watches = network.watched().size();
        for (std::size_t w = 0; w < watches; ++w)
          network.set_most_between(w, parts->most_between(w));
        return result;
      }
    }
  Rehearsal rehearsal(network, design);
  return judge(rehearsal);
}

Schedule run(Rehearsal& rehearsal, const Network& network) {
  const Recorder& recorder = rehearsal.recorder();
  while (!recorder.enough(recorder.frames())) {
    if (rehearsal.frame() == Rehearsal::Outcome::frame) continue;
    Schedule result;
    result.deadlock = network.blocked();
    return result;
  }
  return recorder.schedule();
}

RunResult finishes(Rehearsal& rehearsal, std::size_t frames) {
  const Recorder& recorder = rehearsal.recorder();
  while (recorder.frames() < frames + recorder.in_flight())
    if (rehearsal.frame() != Rehearsal::Outcome::frame) return {false, recorder.cycles(), {}};
  return {true, recorder.cycles(), {}};
}

RunResult keeps_up(Rehearsal& rehearsal, const Schedule& reference) {
  const Recorder& recorder = rehearsal.recorder();
  const std::vector<std::int64_t>&wanted = reference.lasts, &lasts = recorder.lasts();
  for (std::int64_t last : wanted)
    if (rehearsal.frame(last) != Rehearsal::Outcome::frame) return {false, recorder.cycles(), {}};
  // The later half by itself: latency won at the start must not pay for a longer interval.
  const std::size_t end = wanted.size() - 1, half = end / 2;
  RunResult trial{
      lasts[end] - lasts[half] <= wanted[end] - wanted[half] && recorder.first() <= reference.first,
      recorder.cycles(),
      {}};
  for (std::size_t n = 1; n <= wanted.size() && !trial.timing; ++n)
    if (recorder.enough(n)) trial.timing = recorder.timing(n);
  return trial;
}

}  // namespace

Schedule run(Network& network, const Design& design) {
  return judged(network, design, [&](Rehearsal& rehearsal) { return run(rehearsal, network); });
}

RunResult finishes(Network& network, const Design& design, std::size_t frames) {
  return judged(network, design, [&](Rehearsal& rehearsal) { return finishes(rehearsal, frames); });
}

RunResult keeps_up(Network& network, const Design& design, const Schedule& reference) {
  return judged(network, design,
                [&](Rehearsal& rehearsal) { return keeps_up(rehearsal, reference); });
}

Timing predict(const Design& design) {
  Network network(design);
  const Schedule schedule = run(network, design);
  if (!schedule.deadlock.empty())
    throw Error(Fault::internal, "design " + design.name + " deadlocks: " + schedule.deadlock);
  return schedule.timing();
}

}  // namespace mase::design
