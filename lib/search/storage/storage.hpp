// SPDX-License-Identifier: Apache-2.0
// Storage keeps studies in SQLite or PostgreSQL, with Optuna's schema (alembic v3.2.0.a).
// Optuna and optuna-dashboard can read and write the same file or server at the same time.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/samplers/trial.hpp"

namespace mase::storage {

using samplers::Direction;
using samplers::TrialState;

/// A study in the database.
struct Study {
  std::int64_t id = 0;
  std::string name;
  std::vector<Direction> directions;
  Tree user = Tree::dict(), system = Tree::dict();  ///< attributes by key
};

/// System attribute of a trial that was not measured because another trial has the same parameters:
/// the number of that trial, whose results it has.
constexpr const char* repeats_attribute = "mase:repeats";

/// System attribute of a trial: the worker that measures it (search/workers/worker_identity.hpp).
constexpr const char* worker_attribute = "mase:worker";

/// A trial, with the data that only the database has.
struct Record {
  std::int64_t id = 0;
  samplers::Trial trial;  ///< `attributes` are the system attributes; `violation` comes from them
  samplers::NameMap<std::shared_ptr<const samplers::Distribution>> distributions;
  Tree user = Tree::dict();
  std::optional<std::int64_t> start, complete;  ///< milliseconds since 1970, UTC
};

/// A running trial, whose heartbeat may be old.
struct Stale {
  std::int64_t id = 0;
  std::string heartbeat;  ///< as last seen; take_over succeeds only if it is unchanged
  double silent = 0;      ///< seconds since then, by the database's clock
};

/// What a worker decides by, beside the trials. All of it is of one moment.
struct Look {
  std::vector<Stale> running;  ///< the running trials that have a heartbeat
  Tree system = Tree::dict();  ///< attributes of the study
};

/// The outcome of a finished trial.
struct Outcome {
  TrialState state = TrialState::complete;
  std::vector<double>
      values;  ///< may be infinite, but not NaN (Error internal): fail the trial instead
  Tree user = Tree::dict(), system = Tree::dict();
};

/// A connection. Not thread-safe: each thread opens its own. Every call is one transaction, which
/// is retried while the database is locked. Throws an Error(Fault::file) that names the database
/// and a remedy (locked, read-only, not a database, no server, other schema version).
class Storage {
 public:
  virtual ~Storage() = default;

  virtual const std::string& name() const = 0;  ///< for messages, without a password

  virtual std::optional<Study> find_study(const std::string& name) = 0;
  /// The first `most` studies by id.
  virtual std::vector<Study> studies(
      std::int64_t most = std::numeric_limits<std::int32_t>::max()) = 0;
  /// Creates a study, or returns the one of this name that another worker created first.
  virtual Study create_study(const std::string& name, const std::vector<Direction>& directions,
                             const Tree& user, const Tree& system) = 0;
  virtual void set_user_attribute(const Study& study, std::string_view key, const Tree& value) = 0;
  virtual void set_system_attribute(const Study& study, std::string_view key,
                                    const Tree& value) = 0;

  /// Deletes a study with all of its trials.
  virtual void delete_study(const Study& study) = 0;

  /// All trials in ascending number, valid until the next call. Finished trials are read only once
  /// and cached.
  virtual const std::vector<Record>& trials(const Study& study) = 0;
  /// Reads the trials, too, which `last_trials` then returns.
  virtual Look look(const Study& study) = 0;
  /// The trials as `trials` or `look` read them last, valid until the next call of these.
  virtual const std::vector<Record>& last_trials(const Study& study) = 0;
  /// From now on `trials` and `look` read no user attributes and no worker of finished trials. This
  /// is for callers that need trials to choose others, not to show them.
  virtual void leave_out_attributes() = 0;
  virtual Tree user_attributes(const Record& record) = 0;
  /// Like `trials`, but moves the trials to the caller, so that the next call reads them again.
  virtual std::vector<Record> take_trials(const Study& study) = 0;
  /// Drops the cached trials of the study.
  virtual void forget(const Study& study) = 0;

  /// Claims the oldest WAITING trial, or creates a new one. It is RUNNING, with a heartbeat,
  /// without parameters. The parameters that a waiting trial fixes are in its system attribute
  /// "fixed_params", even if Optuna stored them as parameters (a retry). Returns nothing if no
  /// trial waits and the study already has `limit` trials; retries of failed trials do not count.
  virtual std::optional<Record> begin_trial(
      const Study& study, const Tree& system,
      std::int64_t limit = std::numeric_limits<std::int64_t>::max()) = 0;
  /// Returns a running trial without parameters to the state WAITING.
  virtual void release(const Record& record) = 0;
  /// Stores the parameters and further system attributes of a running trial. Error(Fault::file) if
  /// a distribution does not agree with an earlier one of that name in the study. Does nothing if
  /// the trial is no longer RUNNING, like `report`; `finish` then returns false.
  virtual void set_parameters(const Record& record, const samplers::Params& params,
                              const samplers::Space& space, const Tree& system) = 0;
  virtual void report(std::int64_t trial, std::int64_t step, double value) = 0;
  /// Finishes a trial. Changes nothing and returns false if the trial is not RUNNING any more.
  virtual bool finish(std::int64_t trial, const Outcome& outcome) = 0;
  /// Adds a WAITING trial whose parameters are fixed (external values by name).
  virtual void enqueue(const Study& study, const Tree& fixed_params, const Tree& user) = 0;

  virtual void heartbeat(std::int64_t trial) = 0;
  /// The RUNNING trials with a heartbeat older than `seconds`, by the database's clock.
  virtual std::vector<Stale> stale(const Study& study, double seconds) = 0;
  /// Takes over a stale trial and sets these system attributes. Returns true for exactly one of all
  /// callers.
  virtual bool take_over(const Stale& stale, const Tree& system = Tree::dict()) = 0;
  /// Fails a stale trial and enqueues its parameters again, with Optuna's `failed_trial` and
  /// `retry_history`. Returns true for exactly one of all callers.
  virtual bool fail_and_retry(const Study& study, const Stale& stale) = 0;
};

/// Opens a database, and creates it if there is none. `url` is "sqlite:///FILE", a path, or
/// "postgresql://USER:PASSWORD@HOST:PORT/NAME" (also with "+driver", as SQLAlchemy writes it).
/// The password never appears in messages. `patience` is the time in seconds to wait for other
/// writers, and for an unreachable server to come back.
std::unique_ptr<Storage> open_storage(const std::string& url, double patience = 30);
/// Opens a database for reading: creates nothing, and needs no permission to write.
/// Error(Fault::file) if there is no database.
std::unique_ptr<Storage> view_storage(const std::string& url, double patience = 30);

}  // namespace mase::storage
