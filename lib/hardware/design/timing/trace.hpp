// SPDX-License-Identifier: Apache-2.0
// Trace: the cycles in which a stream moves its beats, from the first one to the end of time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace mase::design {

/// Beats at most one per cycle, with a part at the end that happens again and again once `loop` has
/// been called. Copies share what they hold.
class Trace {
 public:
  /// A beat in a later cycle than the last one.
  void add(std::int64_t cycle);
  /// A place between two beats, for `loop`.
  std::size_t mark();
  /// What has come since the mark comes again every so many cycles, and nothing else.
  void loop(std::size_t mark, std::int64_t period);

  bool empty() const { return runs_->runs.empty(); }
  std::int64_t first() const { return first_; }  ///< cycle of the first beat, if there is one
  std::int64_t period() const { return runs_->period; }
  /// From this cycle on the beats are those of a period before.
  std::int64_t periodic_from() const { return first_ + runs_->periodic_from; }
  Trace later(std::int64_t cycles) const;
  /// Whether the two are the same but for a shift in time.
  bool shifted(const Trace& other) const { return runs_ == other.runs_ || *runs_ == *other.runs_; }

  class Cursor;

 private:
  /// Beats at equal distances, the first of them from the beat before.
  struct Run {
    std::int64_t distance, count;
    bool operator==(const Run&) const = default;
  };
  struct Runs {
    std::vector<Run> runs;  ///< the first one is the first beat
    std::size_t loop = 0;   ///< the run after the last one
    std::int64_t period = 0;
    std::int64_t periodic_from = 0;  ///< after the first beat
    std::int64_t back = 0;           ///< from the last beat to the first of the loop
    bool operator==(const Runs&) const = default;
  };

  std::shared_ptr<Runs> runs_ = std::make_shared<Runs>();
  std::int64_t first_ = 0, last_ = 0;
  bool open_ = false;  ///< the last run may go on
};

/// Walks along a trace that loops.
class Trace::Cursor {
 public:
  explicit Cursor(const Trace& trace);
  /// The cycle of the beat where it stands; `forever` behind the last one.
  std::int64_t cycle() const { return cycle_; }
  /// To the next beat; behind the last one it stays there.
  void advance();

 private:
  std::shared_ptr<const Runs> runs_;
  std::size_t run_ = 0;
  std::int64_t left_ = 0;  ///< beats of the run
  std::int64_t cycle_;
};

}  // namespace mase::design
