// SPDX-License-Identifier: Apache-2.0
// Worker: a thread that runs trials of a study one after the other.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>

#include "search/workers/asker.hpp"
#include "search/workers/heartbeats.hpp"

namespace mase::search {

/// Counts consecutive failures for the same reason before any trial succeeds. After enough of them,
/// further trials are expected to fail too.
class Failures {
 public:
  void add(const storage::Record& record);
  bool hopeless() const { return hopeless_; }
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
  int count_ = 0;
  bool any_success_ = false;
  std::atomic<bool> hopeless_{false};
};

/// The state that the workers of a process share.
struct Crew {
  const Plan& plan;
  const OnTrial& on_trial;
  const std::atomic<bool>& stop;
  std::chrono::steady_clock::time_point begun;
  Heartbeats& heartbeats;
  std::mutex telling;               ///< locked while on_trial runs
  Failures failures;                ///< added to under `telling`
  std::atomic<bool> failed{false};  ///< a worker threw, so the others stop

  bool over() const;
};

/// A thread of a crew: takes a trial, has it measured, and stores the outcome.
class Worker {
 public:
  explicit Worker(Crew& crew);
  /// Runs trials until the study is complete or the crew should stop.
  void run();

 private:
  std::optional<storage::Record> next();
  std::optional<storage::Record> look();
  bool is_still_silent(const storage::Stale& running);
  bool recover(const storage::Stale& dead, const storage::Record& record);
  void pause();
  void run_trial(storage::Record record);
  std::optional<samplers::Params> parameters(const storage::Record& record);
  storage::Outcome outcome(const storage::Record& record, const samplers::Params& params);
  std::optional<storage::Outcome> known_outcome(const storage::Record& record);
  storage::Outcome measured_outcome(const samplers::Params& params, const Report& report);
  void report(const storage::Record& record, std::int64_t step, double value);
  bool study_complete();

  Crew& crew_;
  std::unique_ptr<storage::Storage> storage_;
  storage::Study study_;
  Asker asker_;
  Tree identity_;
  /// A heartbeat that looks old, and since when it has been the same by this process's clock.
  struct SeenBeat {
    std::string heartbeat;
    std::chrono::steady_clock::time_point since;
  };
  std::map<std::int64_t, SeenBeat> seen_beats_;  ///< by trial
  int pauses_ = 0;
};

}  // namespace mase::search
