// SPDX-License-Identifier: Apache-2.0
// Heartbeats, and the handling of trials of dead workers. Every step locks the trial's row, so that
// exactly one of several callers sees the heartbeat that it compares with.
#include "search/storage/optuna_storage.hpp"

namespace mase::storage {

void OptunaStorage::heartbeat(std::int64_t trial) {
  database_->transact(Access::repeatable, [&] {
    require_running(trial);
    write_heartbeat(trial);
  });
}

void OptunaStorage::write_heartbeat(std::int64_t trial) {
  database_->later("INSERT INTO trial_heartbeats (trial_id, heartbeat) VALUES ($1, " +
                       std::string(database_->dialect().now) +
                       ") ON CONFLICT (trial_id) DO UPDATE SET heartbeat = excluded.heartbeat",
                   {trial});
}

void OptunaStorage::ask_for_running(const Study& study, std::vector<Stale>& running) {
  database_->later("SELECT t.trial_id, CAST(heartbeat AS TEXT), CAST(" +
                       std::string(database_->dialect().age) +
                       " AS DOUBLE PRECISION) FROM trials t JOIN trial_heartbeats h ON "
                       "h.trial_id = t.trial_id WHERE t.study_id = $1 AND t.trial_id >= $2 AND "
                       "t.state = 'RUNNING' ORDER BY t.trial_id",
                   {study.id, records_[study.id].first_unfinished()}, [&running](const Rows& rows) {
                     for (const Row& row : rows)
                       running.push_back({integer(row[0], "trial_id"), text(row[1], "heartbeat"),
                                          real(row[2], "heartbeat")});
                   });
}

std::vector<Stale> OptunaStorage::stale(const Study& study, double seconds) {
  std::vector<Stale> found;
  database_->transact(Access::read, [&] {
    found.clear();
    ask_for_running(study, found);
    database_->wait();
  });
  std::erase_if(found, [&](const Stale& trial) { return trial.silent <= seconds; });
  return found;
}

bool OptunaStorage::lock_stale(const Stale& stale) {
  require_running(stale.id);
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
  const bool is_done = database_->transact(Access::write, [&] {
    mine = lock_stale(stale);
    if (mine) write_trial_attributes(stale.id, Tree::dict(), system);
  });
  return is_done && mine;
}

bool OptunaStorage::fail_and_retry(const Study& study, const Stale& stale) {
  bool mine = false;
  const bool is_done = database_->transact(Access::write, [&] {
    mine = lock_stale(stale);
    if (!mine) return;
    database_->later("UPDATE trials SET state = 'FAIL', datetime_complete = $2 WHERE trial_id = $1",
                     {stale.id, now_text()});
    insert_retry(study.id, stale.id);
  });
  return is_done && mine;
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
  insert_waiting(study);
  write_newest_attributes("trial_user_attributes", study, failed[0].user);
  write_newest_attributes("trial_system_attributes", study, system);
  database_->later(
      "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) SELECT " +
          newest(study) +
          ", param_name, param_value, distribution_json FROM trial_params WHERE trial_id = $1 "
          "ORDER BY param_id",
      {trial});
}

}  // namespace mase::storage
