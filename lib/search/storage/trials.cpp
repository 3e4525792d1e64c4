// SPDX-License-Identifier: Apache-2.0
// The life of a trial: it is enqueued, started or claimed, gets parameters, reports and finishes.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "search/storage/optuna_storage.hpp"

namespace mase::storage {
namespace {

std::string state_text(TrialState state) { return std::string(samplers::state_name(state)); }

/// Converts a retry by Optuna, which stores fixed values as parameters.
void fix_stored_parameters(Record& record) {
  if (record.trial.params.empty()) return;
  Tree& fixed = record.trial.attributes["fixed_params"];
  for (const auto& [name, value] : record.trial.params)
    fixed[name] = samplers::external_value(*record.distributions.at(name), value);
}

}  // namespace

const std::vector<Record>& OptunaStorage::trials(const Study& study) {
  Records& records = records_[study.id];
  database_->transact(
      Access::read, [&] { records.update(*database_, distributions_, study.id, zone_, details_); });
  return records.all();
}

Look OptunaStorage::look(const Study& study) {
  Records& records = records_[study.id];
  Look look;
  database_->transact(Access::read, [&] {
    look = {};
    ask_for_running(study, look.running);
    ask_for_attributes("study_system_attributes", study.id, look.system);
    records.update(*database_, distributions_, study.id, zone_, details_);
  });
  return look;
}

std::vector<Record> OptunaStorage::take_trials(const Study& study) {
  trials(study);
  std::vector<Record> taken = std::move(records_[study.id]).take();
  forget(study);
  return taken;
}

Tree OptunaStorage::user_attributes(const Record& record) {
  Tree attributes;
  const std::string where = database_->name() + ", trial " + std::to_string(record.trial.number);
  database_->transact(Access::read, [&] {
    attributes = Tree::dict();
    for (const Row& row : database_->query(
             "SELECT \"key\", value_json FROM trial_user_attributes WHERE trial_id = $1 ORDER BY "
             "trial_user_attribute_id",
             {record.id}))
      attributes[text(row[0], where)] = attribute_from(text(row[1], where));
  });
  return attributes;
}

std::optional<Record> OptunaStorage::begin_trial(const Study& study, const Tree& system,
                                                 std::int64_t limit) {
  std::optional<Record> record;
  database_->transact(Access::write, [&] {
    // Others wait for the lock of the study's row from here to the commit: one round trip.
    Rows waiting;
    lock_study(study.id);
    ask_for_waiting(study, waiting);
    const Counts& counts = count(study.id);
    record.reset();
    if (!waiting.empty())
      record = claim(waiting[0], system);
    else if (counts.all - counts.retries < limit)
      insert_running(study, system, counts.all, record.emplace());
  });
  if (record && record->id == 0) find_begun(study, *record);
  if (record) studies_of_[record->id] = study.id;
  if (record) record->trial.violation = violation_of(record->trial.attributes);
  return record;
}

/// The answer to the commit was lost, and the new trial's id with it.
void OptunaStorage::find_begun(const Study& study, Record& record) {
  database_->transact(Access::read, [&] {
    const Rows rows =
        database_->query("SELECT trial_id FROM trials WHERE study_id = $1 AND number = $2",
                         {study.id, record.trial.number});
    record.id = integer(rows.at(0)[0], "trial_id");
  });
}

const OptunaStorage::Counts& OptunaStorage::count(std::int64_t study) {
  Counts& counts = counts_[study];
  const Row row =
      database_
          ->query(
              "SELECT MAX(t.trial_id), COUNT(*), COUNT(a.trial_id) FROM trials t LEFT JOIN "
              "trial_system_attributes a ON a.trial_id = t.trial_id AND a.key = 'failed_trial' "
              "WHERE t.study_id = $1 AND t.trial_id >= $2",
              {study, counts.next})
          .at(0);
  if (is_null(row[0])) return counts;
  counts = {integer(row[0], "trial_id") + 1, counts.all + integer(row[1], "trials"),
            counts.retries + integer(row[2], "retries")};
  return counts;
}

void OptunaStorage::release(const Record& record) {
  database_->transact(Access::write, [&] {
    database_->later(
        "UPDATE trials SET state = 'WAITING', datetime_start = NULL WHERE trial_id = $1 AND "
        "state = 'RUNNING'",
        {record.id});
  });
}

void OptunaStorage::ask_for_waiting(const Study& study, Rows& waiting) {
  database_->later(
      "SELECT trial_id, number FROM trials WHERE study_id = $1 AND trial_id >= $2 AND "
      "state = 'WAITING' AND number IS NOT NULL ORDER BY trial_id LIMIT 1" +
          std::string(database_->dialect().skip_locked),
      {study.id, records_[study.id].first_unfinished()},
      [&waiting](const Rows& rows) { waiting = rows; });
}

Record OptunaStorage::claim(const Row& waiting, const Tree& system) {
  std::vector<Record> claimed(1);
  claimed[0].id = integer(waiting[0], "trial_id");
  claimed[0].trial.number = integer(waiting[1], "number");
  const std::int64_t now = microseconds_now();
  claimed[0].start = now / 1000;
  database_->later("UPDATE trials SET state = 'RUNNING', datetime_start = $2 WHERE trial_id = $1",
                   {claimed[0].id, time_text(now, zone_)});
  write_heartbeat(claimed[0].id);
  read_details(*database_, distributions_, claimed);
  write_trial_attributes(claimed[0].id, Tree::dict(), system);
  fix_stored_parameters(claimed[0]);
  for (const auto& [key, value] : system.as_dict()) claimed[0].trial.attributes[key] = value;
  return std::move(claimed[0]);
}

std::string OptunaStorage::newest(std::int64_t study) {
  return "(SELECT MAX(trial_id) FROM trials WHERE study_id = " + std::to_string(study) + ")";
}

void OptunaStorage::insert_running(const Study& study, const Tree& system, std::int64_t number,
                                   Record& record) {
  const std::int64_t now = microseconds_now();
  insert_trial(study.id, number, TrialState::running, time_text(now, zone_), &record.id);
  write_newest_attributes("trial_system_attributes", study.id, system);
  database_->later("INSERT INTO trial_heartbeats (trial_id, heartbeat) VALUES (" +
                   newest(study.id) + ", " + std::string(database_->dialect().now) + ")");
  record.trial.number = number;
  record.trial.attributes = system;
  record.start = now / 1000;
}

/// Locks the study's row, which protects the numbering of its trials. Optuna locks the same row.
void OptunaStorage::lock_study(std::int64_t study) {
  database_->later(
      "SELECT study_id FROM studies WHERE study_id = $1" +
          std::string(database_->dialect().for_update),
      {study}, [this](const Rows& locked) {
        if (locked.empty())
          file_error(database_->name() + ": the study was deleted while this search used it");
      });
}

void OptunaStorage::insert_waiting(std::int64_t study) {
  lock_study(study);
  insert_trial(study, count(study).all, TrialState::waiting, {});
}

void OptunaStorage::insert_trial(std::int64_t study, std::int64_t number, TrialState state,
                                 const Value& start, std::int64_t* id) {
  database_->later(
      "INSERT INTO trials (number, study_id, state, datetime_start) VALUES ($1, $2, $3, $4) "
      "RETURNING trial_id",
      {number, study, state_text(state), start}, [id](const Rows& rows) {
        if (id) *id = integer(rows.at(0)[0], "trial_id");
      });
}

void OptunaStorage::write_trial_attributes(std::int64_t trial, const Tree& user,
                                           const Tree& system) {
  write_attributes("trial_user_attributes", "trial_id", trial, user);
  write_attributes("trial_system_attributes", "trial_id", trial, system);
}

void OptunaStorage::require_running(std::int64_t trial) {
  database_->require("SELECT 1 FROM trials WHERE trial_id = $1 AND state = 'RUNNING'" +
                         std::string(database_->dialect().for_update),
                     {trial});
}

std::int64_t OptunaStorage::study_of(std::int64_t trial) {
  const auto known = studies_of_.find(trial);
  if (known != studies_of_.end()) return known->second;
  const Row row =
      database_->query("SELECT study_id FROM trials WHERE trial_id = $1", {trial}).at(0);
  return integer(row[0], "study_id");
}

void OptunaStorage::set_parameters(const Record& record, const samplers::Params& params,
                                   const samplers::Space& space, const Tree& system) {
  database_->transact(Access::repeatable, [&] {
    require_running(record.id);
    const std::int64_t study = study_of(record.id);
    samplers::Space chosen;
    std::ranges::copy_if(space, std::back_inserter(chosen),
                         [&](const auto& dimension) { return params.contains(dimension.name); });
    check_agreement(record, study, chosen);
    std::vector<Row> rows;
    for (const samplers::Dimension& dimension : chosen) {
      const double value = params.at(dimension.name);
      MASE_CHECK(std::isfinite(value), "parameter '" + dimension.name + "' is not finite");
      rows.push_back({record.id, dimension.name, value,
                      to_json(samplers::to_tree(dimension.distribution), -1)});
    }
    insert_rows(*database_, "trial_params (trial_id, param_name, param_value, distribution_json)",
                rows,
                "ON CONFLICT (trial_id, param_name) DO UPDATE SET param_value = "
                "excluded.param_value, distribution_json = excluded.distribution_json");
    write_trial_attributes(record.id, Tree::dict(), system);
  });
}

void OptunaStorage::check_agreement(const Record& record, std::int64_t study,
                                    const samplers::Space& space) {
  learn_agreed(study, space);
  for (const samplers::Dimension& wanted : space) {
    const auto earlier = agreed_.find({study, wanted.name});
    if (earlier == agreed_.end() || samplers::compatible(earlier->second, wanted.distribution))
      continue;
    file_error(database_->name() + ", trial " + std::to_string(record.trial.number) +
               ": parameter '" + wanted.name + "' cannot be " +
               to_json(samplers::to_tree(wanted.distribution), -1) + ", earlier trials have " +
               to_json(samplers::to_tree(earlier->second), -1) +
               "; only ranges may change within a study: use another name, or another study");
  }
}

/// Reads the agreed distributions that are not known. A parameter that no trial has needs the lock
/// of the study's row, because it is about to be added.
void OptunaStorage::learn_agreed(std::int64_t study, const samplers::Space& space) {
  bool is_known = true;
  for (const samplers::Dimension& dimension : space) {
    if (agreed_.contains({study, dimension.name})) continue;
    if (std::exchange(is_known, false)) lock_study(study);
    database_->later(
        "SELECT p.distribution_json FROM trials t JOIN trial_params p ON p.trial_id = t.trial_id "
        "WHERE t.study_id = $1 AND p.param_name = $2 LIMIT 1",
        {study, dimension.name}, [this, study, &dimension](const Rows& rows) {
          const std::string where = database_->name() + ", parameter '" + dimension.name + "'";
          if (!rows.empty())
            agreed_.emplace(std::pair{study, dimension.name},
                            *distributions_.read(text(rows[0][0], where), where));
        });
  }
  if (!is_known) database_->wait();
}

void OptunaStorage::report(std::int64_t trial, std::int64_t step, double value) {
  database_->transact(Access::repeatable, [&] {
    require_running(trial);
    const Stored cells = stored(value);
    insert_rows(*database_,
                "trial_intermediate_values (trial_id, step, intermediate_value, "
                "intermediate_value_type)",
                {{trial, step, cells.value, cells.type}},
                "ON CONFLICT (trial_id, step) DO UPDATE SET intermediate_value = "
                "excluded.intermediate_value, intermediate_value_type = "
                "excluded.intermediate_value_type");
  });
}

bool OptunaStorage::finish(std::int64_t trial, const Outcome& outcome) {
  MASE_CHECK(outcome.state != TrialState::running && outcome.state != TrialState::waiting,
             "a trial finishes complete, pruned or failed");
  MASE_CHECK(outcome.state != TrialState::complete || !outcome.values.empty(),
             "a complete trial has values");
  std::vector<Row> rows;
  for (const double value : outcome.values) {
    MASE_CHECK(!std::isnan(value), "an objective is NaN: the trial fails");
    const Stored cells = stored(value);
    rows.push_back({trial, static_cast<std::int64_t>(rows.size()), cells.value, cells.type});
  }
  studies_of_.erase(trial);
  const std::string now = now_text();
  const bool finished = database_->transact(Access::repeatable, [&] {
    require_running(trial);
    insert_rows(*database_, "trial_values (trial_id, objective, value, value_type)", rows,
                "ON CONFLICT (trial_id, objective) DO UPDATE SET value = excluded.value, "
                "value_type = excluded.value_type");
    write_trial_attributes(trial, outcome.user, outcome.system);
    database_->later("UPDATE trials SET state = $2, datetime_complete = $3 WHERE trial_id = $1",
                     {trial, state_text(outcome.state), now});
  });
  return finished || was_finished_at(trial, now);
}

/// Whether the commit that ended the trial then took effect, although its answer was lost. Nobody
/// else ends the same trial in the same microsecond.
bool OptunaStorage::was_finished_at(std::int64_t trial, const std::string& time) {
  bool is_same = false;
  database_->transact(Access::read, [&] {
    is_same = !database_
                   ->query("SELECT 1 FROM trials WHERE trial_id = $1 AND datetime_complete = $2",
                           {trial, time})
                   .empty();
  });
  return is_same;
}

void OptunaStorage::enqueue(const Study& study, const Tree& fixed_params, const Tree& user) {
  database_->transact(Access::write, [&] {
    insert_waiting(study.id);
    Tree system = Tree::dict();
    system["fixed_params"] = fixed_params;
    write_newest_attributes("trial_user_attributes", study.id, user);
    write_newest_attributes("trial_system_attributes", study.id, system);
  });
}

}  // namespace mase::storage
