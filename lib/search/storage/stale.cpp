// SPDX-License-Identifier: Apache-2.0
// Heartbeats, and the handling of trials of dead workers. Every step locks the trial's row, so that
// exactly one of several callers sees the heartbeat that it compares with.
#include "search/storage/optuna_storage.hpp"

namespace mase::storage {

void OptunaStorage::heartbeat(std::int64_t trial) {
  database_->transact(Access::write, [&] {
    if (lock_running(trial)) write_heartbeat(trial);
  });
}

void OptunaStorage::write_heartbeat(std::int64_t trial) {
  database_->execute("INSERT INTO trial_heartbeats (trial_id, heartbeat) VALUES ($1, " +
                         std::string(database_->dialect().now) +
                         ") ON CONFLICT (trial_id) DO UPDATE SET heartbeat = excluded.heartbeat",
                     {trial});
}

std::vector<Stale> OptunaStorage::stale(const Study& study, double seconds) {
  std::vector<Stale> found;
  database_->transact(Access::read, [&] {
    found.clear();
    for (const Row& row : database_->query(
             "SELECT t.trial_id, CAST(heartbeat AS TEXT) FROM trials t JOIN trial_heartbeats h ON "
             "h.trial_id = t.trial_id WHERE t.study_id = $1 AND t.trial_id >= $3 AND "
             "t.state = 'RUNNING' AND " +
                 std::string(database_->dialect().age) + " > $2 ORDER BY t.trial_id",
             {study.id, seconds, records_[study.id].first_unfinished()}))
      found.push_back({integer(row[0], "trial_id"), text(row[1], "heartbeat")});
  });
  return found;
}

bool OptunaStorage::lock_stale(const Stale& stale) {
  if (!lock_running(stale.id)) return false;
  // The last comparison makes sure that the heartbeat differs from the seen one afterwards, for any
  // resolution of the clock.
  return database_->execute(
             "UPDATE trial_heartbeats SET heartbeat = " + std::string(database_->dialect().now) +
                 " WHERE trial_id = $1 AND CAST(heartbeat AS TEXT) = $2 AND "
                 "heartbeat <> " +
                 std::string(database_->dialect().now),
             {stale.id, stale.heartbeat}) == 1;
}

bool OptunaStorage::take_over(const Stale& stale, const Tree& system) {
  bool mine = false;
  database_->transact(Access::write, [&] {
    mine = lock_stale(stale);
    if (mine) write_trial_attributes(stale.id, Tree::dict(), system);
  });
  return mine;
}

bool OptunaStorage::fail_and_retry(const Study& study, const Stale& stale) {
  bool mine = false;
  database_->transact(Access::write, [&] {
    mine = lock_stale(stale);
    if (!mine) return;
    database_->execute(
        "UPDATE trials SET state = 'FAIL', datetime_complete = $2 WHERE trial_id = $1",
        {stale.id, now_text()});
    insert_retry(study.id, stale.id);
  });
  return mine;
}

/// Does what Optuna's RetryHeartbeatStaleTrialCallback does: copies parameters and attributes, sets
/// `failed_trial` to the first of a chain of retries and `retry_history` to the whole chain.
void OptunaStorage::insert_retry(std::int64_t study, std::int64_t trial) {
  std::vector<Record> failed(1);
  failed[0].id = trial;
  failed[0].trial.number =
      integer(database_->query("SELECT number FROM trials WHERE trial_id = $1", {trial}).at(0)[0],
              "number");
  read_details(*database_, distributions_, failed);
  Tree system = failed[0].trial.attributes;
  if (system.find("failed_trial") == nullptr) system["failed_trial"] = failed[0].trial.number;
  Tree& history = system["retry_history"];
  if (!history.is_list()) history = Tree::list();
  history.push_back(failed[0].trial.number);
  if (!failed[0].trial.params.empty()) {
    Tree& fixed = system["fixed_params"];
    if (!fixed.is_dict()) fixed = Tree::dict();
    for (const auto& [name, value] : failed[0].trial.params)
      fixed[name] = samplers::external_value(*failed[0].distributions.at(name), value);
  }
  const std::int64_t retry = insert_waiting(study);
  write_trial_attributes(retry, failed[0].user, system);
  database_->execute(
      "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) "
      "SELECT CAST($1 AS INTEGER), param_name, param_value, distribution_json FROM trial_params "
      "WHERE trial_id = $2 ORDER BY param_id",
      {retry, trial});
}

}  // namespace mase::storage
