// Latency and interval of a design, measured on its controls as the bench measures them in the RTL.
#include <algorithm>

#include "base/error.hpp"
#include "hw/schedule.hpp"

namespace mase::hw {
namespace {

constexpr std::size_t least_frames = 4, most_frames = 16;
/// Cycles beyond the longest fold that a module may spend without moving a beat: pipeline depths.
constexpr std::int64_t quiet_cycles = 512;
/// An output that is this many frames ahead of another one will not be caught up with.
constexpr std::size_t frames_apart = 64;

/// When each frame of each output began and ended.
class Recorder {
 public:
  Recorder(const Network& network, const Design& design)
      : network_(network),
        design_(design),
        firsts_(design.outputs.size(), -1),
        ends_(design.outputs.size()) {
    MASE_CHECK(!design.outputs.empty() && !design.inputs.empty(), "a design without streams");
  }

  void after_step() {
    if (start_ < 0)
      for (StreamId id : design_.inputs)
        if (network_.moved(id) > 0) start_ = now();
    for (std::size_t o = 0; o < ends_.size(); ++o) record(o);
  }

  std::int64_t elapsed() const { return start_ < 0 ? 0 : now() - start_; }
  std::size_t frames() const { return std::min_element(ends_.begin(), ends_.end(), fewer)->size(); }
  std::size_t most() const { return std::max_element(ends_.begin(), ends_.end(), fewer)->size(); }

  /// The last beat of a finished frame over all outputs.
  std::int64_t last(std::size_t frame) const {
    std::int64_t latest = 0;
    for (const auto& ends : ends_) latest = std::max(latest, ends[frame]);
    return latest - start_;
  }

  /// Frames that are under way at a time: an interval may depend on so many frames before it.
  std::size_t in_flight() const {
    if (frames() < 2) return 0;
    return static_cast<std::size_t>(last(0) / std::max<std::int64_t>(1, last(1) - last(0)));
  }

  bool settled() const {
    const std::size_t n = frames(), same = least_frames - 1 + in_flight();
    if (n <= same) return false;
    const std::int64_t interval = last(n - 1) - last(n - 2);
    for (std::size_t f = n - 1; f > n - 1 - same; --f)
      if (last(f) - last(f - 1) != interval) return false;
    return true;
  }

  bool given_up() const { return frames() >= most_frames + 4 * in_flight(); }

  Schedule schedule() const {
    Schedule result;
    result.first = *std::min_element(firsts_.begin(), firsts_.end()) - start_;
    for (std::size_t f = 0; f < frames(); ++f) result.lasts.push_back(last(f));
    result.interval = steady(result.lasts);
    for (std::size_t o = 0; o < ends_.size(); ++o)
      result.outputs.push_back({firsts_[o] - start_, ends_[o][0] - start_, steady(ends_[o])});
    return result;
  }

 private:
  using Ends = std::vector<std::int64_t>;
  static bool fewer(const Ends& a, const Ends& b) { return a.size() < b.size(); }
  std::int64_t now() const { return network_.cycle() - 1; }

  void record(std::size_t o) {
    const StreamId id = design_.outputs[o];
    const std::int64_t moved = network_.moved(id);
    if (moved > 0 && firsts_[o] < 0) firsts_[o] = now();
    if (moved == design_.stream(id).beats() * static_cast<std::int64_t>(ends_[o].size() + 1))
      ends_[o].push_back(now());
  }

  /// The last interval when it repeats, else the mean of the last eight rounded up.
  static std::int64_t steady(const Ends& ends) {
    const std::size_t n = ends.size();
    const std::int64_t interval = ends[n - 1] - ends[n - 2];
    if (interval == ends[n - 2] - ends[n - 3]) return interval;
    const std::size_t from = n > 8 ? n - 9 : 0;
    const auto count = static_cast<std::int64_t>(n - 1 - from);
    return (ends[n - 1] - ends[from] + count - 1) / count;
  }

  const Network& network_;
  const Design& design_;
  std::int64_t start_ = -1;
  std::vector<std::int64_t> firsts_;
  std::vector<Ends> ends_;
};

/// Counts cycles in which no beat moves, against the longest pause a working design can make.
class Watchdog {
 public:
  Watchdog(const Network& network, const Design& design)
      : limit_(quiet_cycles + network.input_interval) {
    for (const Stream& stream : design.streams)
      limit_ = std::max(limit_, quiet_cycles + stream.beats() + network.input_interval);
  }
  bool stuck(std::int64_t beats) {
    quiet_ = beats > 0 ? 0 : quiet_ + 1;
    return quiet_ > limit_;
  }

 private:
  std::int64_t limit_, quiet_ = 0;
};

}  // namespace

Schedule run(Network& network, const Design& design) {
  Recorder recorder(network, design);
  Watchdog watchdog(network, design);
  while (!recorder.settled() && !recorder.given_up()) {
    const std::int64_t beats = network.step();
    recorder.after_step();
    if (!watchdog.stuck(beats) && recorder.most() <= recorder.frames() + frames_apart) continue;
    Schedule result;
    result.deadlock = network.blocked();
    return result;
  }
  return recorder.schedule();
}

bool finishes(Network& network, const Design& design, std::size_t frames) {
  Recorder recorder(network, design);
  Watchdog watchdog(network, design);
  while (recorder.frames() < frames + recorder.in_flight()) {
    const std::int64_t beats = network.step();
    recorder.after_step();
    if (watchdog.stuck(beats) || recorder.most() > recorder.frames() + frames_apart) return false;
  }
  return true;
}

bool keeps_up(Network& network, const Design& design, const Schedule& reference) {
  Recorder recorder(network, design);
  Watchdog watchdog(network, design);
  while (recorder.frames() < reference.lasts.size()) {
    const std::int64_t beats = network.step();
    const std::size_t frame = recorder.frames();
    recorder.after_step();
    if (watchdog.stuck(beats) || recorder.elapsed() > reference.lasts[frame]) return false;
  }
  // The later half by itself: latency won at the start must not pay for a longer interval.
  const std::vector<std::int64_t>& wanted = reference.lasts;
  const std::size_t end = wanted.size() - 1, half = end / 2;
  return recorder.last(end) - recorder.last(half) <= wanted[end] - wanted[half] &&
         recorder.schedule().first <= reference.first;
}

Timing predict(const Design& design) {
  Network network(design);
  const Schedule schedule = run(network, design);
  if (!schedule.deadlock.empty())
    throw Error(Fault::internal, "design " + design.name + " deadlocks: " + schedule.deadlock);
  return schedule.timing();
}

}  // namespace mase::hw
