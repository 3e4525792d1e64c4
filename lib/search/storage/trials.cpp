// SPDX-License-Identifier: Apache-2.0
// The life of a trial: it is enqueued, started or claimed, gets parameters, reports and finishes.
#include <cmath>

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
    record = claim_waiting(study);
    if (record) {
      write_trial_attributes(record->id, Tree::dict(), system);
      for (const auto& [key, value] : system.as_dict()) record->trial.attributes[key] = value;
    } else {
      lock_study(study.id);
      const Counts& counts = count(study.id);
      if (counts.all - counts.retries >= limit) return;
      record = insert_running(study, system, counts.all);
    }
    write_heartbeat(record->id);
  });
  if (record) record->trial.violation = violation_of(record->trial.attributes);
  return record;
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
    database_->execute(
        "UPDATE trials SET state = 'WAITING', datetime_start = NULL WHERE trial_id = $1 AND "
        "state = 'RUNNING'",
        {record.id});
  });
}

std::optional<Record> OptunaStorage::claim_waiting(const Study& study) {
  const Rows rows = database_->query(
      "SELECT trial_id, number FROM trials WHERE study_id = $1 AND trial_id >= $2 AND "
      "state = 'WAITING' AND number IS NOT NULL ORDER BY trial_id LIMIT 1" +
          std::string(database_->dialect().skip_locked),
      {study.id, records_[study.id].first_unfinished()});
  if (rows.empty()) return std::nullopt;
  std::vector<Record> claimed(1);
  claimed[0].id = integer(rows[0][0], "trial_id");
  claimed[0].trial.number = integer(rows[0][1], "number");
  const std::int64_t now = microseconds_now();
  claimed[0].start = now / 1000;
  database_->execute("UPDATE trials SET state = 'RUNNING', datetime_start = $2 WHERE trial_id = $1",
                     {claimed[0].id, time_text(now, zone_)});
  read_details(*database_, distributions_, claimed);
  fix_stored_parameters(claimed[0]);
  return std::move(claimed[0]);
}

Record OptunaStorage::insert_running(const Study& study, const Tree& system, std::int64_t number) {
  const std::int64_t now = microseconds_now();
  Record record;
  record.id = insert_trial(study.id, number, TrialState::running, time_text(now, zone_));
  record.trial.number = number;
  write_trial_attributes(record.id, Tree::dict(), system);
  record.trial.attributes = system;
  record.start = now / 1000;
  return record;
}

/// Locks the study's row, which protects the numbering of its trials. Optuna locks the same row.
void OptunaStorage::lock_study(std::int64_t study) {
  const Rows locked = database_->query("SELECT study_id FROM studies WHERE study_id = $1" +
                                           std::string(database_->dialect().for_update),
                                       {study});
  if (locked.empty())
    file_error(database_->name() + ": the study was deleted while this search used it");
}

std::int64_t OptunaStorage::insert_waiting(std::int64_t study) {
  lock_study(study);
  return insert_trial(study, count(study).all, TrialState::waiting, {});
}

std::int64_t OptunaStorage::insert_trial(std::int64_t study, std::int64_t number, TrialState state,
                                         const Value& start) {
  return integer(database_
                     ->query("INSERT INTO trials (number, study_id, state, datetime_start) VALUES "
                             "($1, $2, $3, $4) RETURNING trial_id",
                             {number, study, state_text(state), start})
                     .at(0)[0],
                 "trial_id");
}

void OptunaStorage::write_trial_attributes(std::int64_t trial, const Tree& user,
                                           const Tree& system) {
  write_attributes("trial_user_attributes", "trial_id", trial, user);
  write_attributes("trial_system_attributes", "trial_id", trial, system);
}

bool OptunaStorage::lock_running(std::int64_t trial) {
  const Rows rows = database_->query(
      "SELECT state FROM trials WHERE trial_id = $1" + std::string(database_->dialect().for_update),
      {trial});
  return !rows.empty() && text(rows[0][0], "state") == "RUNNING";
}

void OptunaStorage::set_parameters(const Record& record, const samplers::Params& params,
                                   const samplers::Space& space, const Tree& system) {
  database_->transact(Access::write, [&] {
    if (!lock_running(record.id)) return;
    const std::int64_t study = study_of(record.id);
    std::vector<Row> rows;
    for (const samplers::Dimension& dimension : space) {
      const auto value = params.find(dimension.name);
      if (value == params.end()) continue;
      MASE_CHECK(std::isfinite(value->second), "parameter '" + dimension.name + "' is not finite");
      check_agreement(record, study, dimension);
      rows.push_back({record.id, dimension.name, value->second,
                      to_json(samplers::to_tree(dimension.distribution), -1)});
    }
    insert_rows(*database_, "trial_params (trial_id, param_name, param_value, distribution_json)",
                rows,
                "ON CONFLICT (trial_id, param_name) DO UPDATE SET param_value = "
                "excluded.param_value, distribution_json = excluded.distribution_json");
    write_trial_attributes(record.id, Tree::dict(), system);
  });
}

std::int64_t OptunaStorage::study_of(std::int64_t trial) {
  return integer(
      database_->query("SELECT study_id FROM trials WHERE trial_id = $1", {trial}).at(0)[0],
      "study_id");
}

void OptunaStorage::check_agreement(const Record& record, std::int64_t study,
                                    const samplers::Dimension& wanted) {
  const samplers::Distribution* earlier = agreed(study, wanted.name);
  if (earlier == nullptr || samplers::compatible(*earlier, wanted.distribution)) return;
  file_error(database_->name() + ", trial " + std::to_string(record.trial.number) +
             ": parameter '" + wanted.name + "' cannot be " +
             to_json(samplers::to_tree(wanted.distribution), -1) + ", earlier trials have " +
             to_json(samplers::to_tree(*earlier), -1) +
             "; only ranges may change within a study: use another name, or another study");
}

/// The agreed distribution; null while no trial has the parameter. To add it, lock the study's row.
const samplers::Distribution* OptunaStorage::agreed(std::int64_t study, const std::string& name) {
  const auto known = agreed_.find({study, name});
  if (known != agreed_.end()) return &known->second;
  lock_study(study);
  const Rows rows = database_->query(
      "SELECT p.distribution_json FROM trials t JOIN trial_params p ON p.trial_id = t.trial_id "
      "WHERE t.study_id = $1 AND p.param_name = $2 LIMIT 1",
      {study, name});
  if (rows.empty()) return nullptr;
  const std::string where = database_->name() + ", parameter '" + name + "'";
  const auto added =
      agreed_.emplace(std::pair{study, name}, *distributions_.read(text(rows[0][0], where), where));
  return &added.first->second;
}

void OptunaStorage::report(std::int64_t trial, std::int64_t step, double value) {
  database_->transact(Access::write, [&] {
    if (!lock_running(trial)) return;
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
  bool finished = false;
  database_->transact(Access::write, [&] {
    finished = lock_running(trial);
    if (!finished) return;
    insert_rows(*database_, "trial_values (trial_id, objective, value, value_type)", rows,
                "ON CONFLICT (trial_id, objective) DO UPDATE SET value = excluded.value, "
                "value_type = excluded.value_type");
    write_trial_attributes(trial, outcome.user, outcome.system);
    database_->execute("UPDATE trials SET state = $2, datetime_complete = $3 WHERE trial_id = $1",
                       {trial, state_text(outcome.state), now_text()});
  });
  return finished;
}

void OptunaStorage::enqueue(const Study& study, const Tree& fixed_params, const Tree& user) {
  database_->transact(Access::write, [&] {
    const std::int64_t trial = insert_waiting(study.id);
    Tree system = Tree::dict();
    system["fixed_params"] = fixed_params;
    write_trial_attributes(trial, user, system);
  });
}

}  // namespace mase::storage
