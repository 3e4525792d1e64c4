// SPDX-License-Identifier: Apache-2.0
// Storage: studies in a database with Optuna's schema (alembic v3.2.0.a), SQLite or PostgreSQL.
// Optuna and optuna-dashboard read and write the same file or server at the same time.
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

/// A study as the database knows it.
struct Study {
  std::int64_t id = 0;
  std::string name;
  std::vector<Direction> directions;
  Tree user = Tree::dict(), system = Tree::dict();  ///< attributes by key
};

/// System attribute of a trial that was not measured: the number of the trial with the same
/// parameters whose results it has.
constexpr const char* repeats_attribute = "mase:repeats";

/// System attribute of a trial: who measures it (search/workers/worker_identity.hpp).
constexpr const char* worker_attribute = "mase:worker";

/// A trial with what only the database knows.
struct Record {
  std::int64_t id = 0;
  samplers::Trial trial;  ///< `attributes` are the system attributes; `violation` comes from them
  samplers::NameMap<std::shared_ptr<const samplers::Distribution>> distributions;
  Tree user = Tree::dict();
  std::optional<std::int64_t> start, complete;  ///< milliseconds since 1970, UTC
};

/// A running trial whose heartbeat is old.
struct Stale {
  std::int64_t id = 0;
  std::string heartbeat;  ///< as last seen; take_over succeeds only while it is still that
};

/// What a finished trial leaves.
struct Outcome {
  TrialState state = TrialState::complete;
  std::vector<double>
      values;  ///< finite or infinite; NaN is refused (Error internal): fail the trial
  Tree user = Tree::dict(), system = Tree::dict();
};

/// One connection; not thread-safe, each thread opens its own. Every call is one transaction,
/// retried while the database is locked. Errors: Error(Fault::file) naming the database and what
/// would help (locked, read-only, not a database, no server, other schema version).
class Storage {
 public:
  virtual ~Storage() = default;

  virtual const std::string& name() const = 0;  ///< for messages, without a password

  virtual std::optional<Study> find_study(const std::string& name) = 0;
  /// The first `most` by id.
  virtual std::vector<Study> studies(
      std::int64_t most = std::numeric_limits<std::int32_t>::max()) = 0;
  /// The new study, or the one of this name that another worker created first.
  virtual Study create_study(const std::string& name, const std::vector<Direction>& directions,
                             const Tree& user, const Tree& system) = 0;
  virtual void set_user_attribute(const Study& study, std::string_view key, const Tree& value) = 0;
  virtual void set_system_attribute(const Study& study, std::string_view key,
                                    const Tree& value) = 0;

  /// Removes a study with all of its trials.
  virtual void delete_study(const Study& study) = 0;

  /// All trials in ascending number, valid until the next call. Finished trials are read once and
  /// kept.
  virtual const std::vector<Record>& trials(const Study& study) = 0;
  /// From now on `trials` reads no user attributes, and of finished trials not whose worker
  /// measured them: for those who keep trials to choose others, not to show them.
  virtual void leave_out_attributes() = 0;
  virtual Tree user_attributes(const Record& record) = 0;
  /// As `trials`; they become the caller's, and are read anew after this.
  virtual std::vector<Record> take_trials(const Study& study) = 0;
  /// Lets go of what was kept of the study's trials.
  virtual void forget(const Study& study) = 0;

  /// Claims the oldest WAITING trial, or begins a new one: RUNNING, with a heartbeat, no parameters
  /// yet. What the waiting trial fixes stands in its system attribute "fixed_params", also where
  /// Optuna stored it as parameters (a retry). Nothing when none waits and the study has `limit`
  /// trials already; retries of failed ones do not count.
  virtual std::optional<Record> begin_trial(
      const Study& study, const Tree& system,
      std::int64_t limit = std::numeric_limits<std::int64_t>::max()) = 0;
  /// Gives a running trial without parameters back: WAITING again.
  virtual void release(const Record& record) = 0;
  /// Stores the parameters and further system attributes of a running trial. Error(Fault::file)
  /// when a distribution does not agree with an earlier one of that name in the study. Nothing
  /// happens, as in `report`, when the trial is not RUNNING any more: `finish` tells.
  virtual void set_parameters(const Record& record, const samplers::Params& params,
                              const samplers::Space& space, const Tree& system) = 0;
  virtual void report(std::int64_t trial, std::int64_t step, double value) = 0;
  /// False, and nothing changed, when the trial is not RUNNING any more.
  virtual bool finish(std::int64_t trial, const Outcome& outcome) = 0;
  /// A WAITING trial whose parameters are fixed (external values by name).
  virtual void enqueue(const Study& study, const Tree& fixed_params, const Tree& user) = 0;

  virtual void heartbeat(std::int64_t trial) = 0;
  /// RUNNING trials with a heartbeat older than `seconds`, by the database's clock.
  virtual std::vector<Stale> stale(const Study& study, double seconds) = 0;
  /// Makes a stale trial the caller's own, with these system attributes: true for exactly one of
  /// all callers.
  virtual bool take_over(const Stale& stale, const Tree& system = Tree::dict()) = 0;
  /// Fails a stale trial and enqueues its parameters again, with Optuna's `failed_trial` and
  /// `retry_history`: done by exactly one of all callers, who gets true.
  virtual bool fail_and_retry(const Study& study, const Stale& stale) = 0;
};

/// Opens, and creates where nothing is there yet. `url`: "sqlite:///FILE", a path, or
/// "postgresql://USER:PASSWORD@HOST:PORT/NAME" (also with "+driver", as SQLAlchemy writes it).
/// The password never appears in messages. `patience`: seconds to wait for other writers, and
/// for a server that has gone away to come back.
std::unique_ptr<Storage> open_storage(const std::string& url, double patience = 30);
/// The same for reading: nothing is created, and a database or server that may not be written will
/// do. Error(Fault::file) when there is no database.
std::unique_ptr<Storage> view_storage(const std::string& url, double patience = 30);

}  // namespace mase::storage
