// SPDX-License-Identifier: Apache-2.0
// OptunaStorage implements Storage on Optuna's tables, for both databases.
#pragma once

#include <map>
#include <memory>

#include "search/storage/database.hpp"
#include "search/storage/encode.hpp"
#include "search/storage/records.hpp"
#include "search/storage/storage.hpp"

namespace mase::storage {

/// A Storage in the tables of Optuna's schema.
class OptunaStorage final : public Storage {
 public:
  /// Creates or checks the schema.
  OptunaStorage(std::unique_ptr<Database> database, Opening opening);

  const std::string& name() const override { return database_->name(); }

  // studies.cpp
  std::optional<Study> find_study(const std::string& name) override;
  std::vector<Study> studies(std::int64_t most) override;
  Study create_study(const std::string& name, const std::vector<Direction>& directions,
                     const Tree& user, const Tree& system) override;
  void set_user_attribute(const Study& study, std::string_view key, const Tree& value) override;
  void set_system_attribute(const Study& study, std::string_view key, const Tree& value) override;
  void delete_study(const Study& study) override;

  // trials.cpp
  const std::vector<Record>& trials(const Study& study) override;
  void leave_out_attributes() override { details_ = Details::decisive; }
  Tree user_attributes(const Record& record) override;
  std::vector<Record> take_trials(const Study& study) override;
  void forget(const Study& study) override { records_.erase(study.id); }
  std::optional<Record> begin_trial(const Study& study, const Tree& system,
                                    std::int64_t limit) override;
  void release(const Record& record) override;
  void set_parameters(const Record& record, const samplers::Params& params,
                      const samplers::Space& space, const Tree& system) override;
  void report(std::int64_t trial, std::int64_t step, double value) override;
  bool finish(std::int64_t trial, const Outcome& outcome) override;
  void enqueue(const Study& study, const Tree& fixed_params, const Tree& user) override;

  // stale.cpp
  void heartbeat(std::int64_t trial) override;
  std::vector<Stale> stale(const Study& study, double seconds) override;
  bool take_over(const Stale& stale, const Tree& system) override;
  bool fail_and_retry(const Study& study, const Stale& stale) override;

 private:
  /// The number of trials of a study with ids below `next`. These trials do not change later.
  struct Counts {
    std::int64_t next = 0, all = 0, retries = 0;
  };

  // Each of these functions works in the caller's transaction.
  Study read_study(std::int64_t id, const std::string& name);
  Tree read_attributes(const std::string& table, const std::string& owner, std::int64_t id);
  void write_attributes(const std::string& table, const std::string& owner, std::int64_t id,
                        const Tree& attributes);
  void write_trial_attributes(std::int64_t trial, const Tree& user, const Tree& system);
  /// Inserts a trial and returns its id. The study's row is locked, which keeps the number free.
  std::int64_t insert_trial(std::int64_t study, std::int64_t number, TrialState state,
                            const Value& start);
  /// Inserts a WAITING trial with the next number of its study, and returns its id.
  std::int64_t insert_waiting(std::int64_t study);
  std::optional<Record> claim_waiting(const Study& study);
  void lock_study(std::int64_t study);
  /// Counts all trials of the study. Its row is locked, so that none is added meanwhile.
  const Counts& count(std::int64_t study);
  Record insert_running(const Study& study, const Tree& system, std::int64_t number);
  void write_heartbeat(std::int64_t trial);
  /// Locks the trial's row and returns whether the trial is RUNNING.
  bool lock_running(std::int64_t trial);
  bool lock_stale(const Stale& stale);
  void check_agreement(const Record& record, std::int64_t study, const samplers::Dimension& wanted);
  const samplers::Distribution* agreed(std::int64_t study, const std::string& name);
  std::int64_t study_of(std::int64_t trial);
  void insert_retry(std::int64_t study, std::int64_t trial);
  std::string now_text() const { return time_text(microseconds_now(), zone_); }

  std::unique_ptr<Database> database_;
  Zone zone_;
  Details details_ = Details::all;
  Distributions distributions_;
  std::map<std::int64_t, Records> records_;  ///< by study
  std::map<std::int64_t, Counts> counts_;    ///< by study
  /// By study and parameter: the distribution with which all others of that name must agree.
  std::map<std::pair<std::int64_t, std::string>, samplers::Distribution> agreed_;
};

}  // namespace mase::storage
