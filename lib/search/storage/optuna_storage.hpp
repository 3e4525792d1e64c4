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
  Look look(const Study& study) override;
  const std::vector<Record>& last_trials(const Study& study) override {
    return records_[study.id].all();
  }
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

  // Each of these functions works in the caller's transaction. What is asked for is there after the
  // next wait.
  Study read_study(std::int64_t id, const std::string& name);
  void ask_for_attributes(const std::string& table, std::int64_t study, Tree& attributes);
  void ask_for_running(const Study& study, std::vector<Stale>& running);
  void write_attributes(const std::string& table, const std::string& owner, std::int64_t id,
                        const Tree& attributes);
  /// Adds attributes of the trial that was inserted last.
  void write_newest_attributes(const std::string& table, std::int64_t study,
                               const Tree& attributes);
  void write_trial_attributes(std::int64_t trial, const Tree& user, const Tree& system);
  /// Inserts a trial, whose id is stored in `id` if that is not null. The study's row is locked,
  /// which keeps the number free.
  void insert_trial(std::int64_t study, std::int64_t number, TrialState state, const Value& start,
                    std::int64_t* id = nullptr);
  /// The same for a WAITING trial with the next number of its study.
  void insert_waiting(std::int64_t study);
  /// The trial that was inserted last, as an expression of SQL. The study's row is locked, which
  /// keeps others from inserting one.
  static std::string newest(std::int64_t study);
  void ask_for_waiting(const Study& study, Rows& waiting);
  bool was_finished_at(std::int64_t trial, const std::string& time);
  void find_begun(const Study& study, Record& record);
  Record claim(const Row& waiting, const Tree& system);
  void lock_study(std::int64_t study);
  /// Counts all trials of the study. Its row is locked, so that none is added meanwhile.
  const Counts& count(std::int64_t study);
  void insert_running(const Study& study, const Tree& system, std::int64_t number, Record& record);
  void write_heartbeat(std::int64_t trial);
  /// Locks the trial's row. The transaction takes effect only if the trial is RUNNING.
  void require_running(std::int64_t trial);
  std::int64_t study_of(std::int64_t trial);
  bool lock_stale(const Stale& stale);
  void check_agreement(const Record& record, std::int64_t study, const samplers::Space& space);
  void learn_agreed(std::int64_t study, const samplers::Space& space);
  void insert_retry(std::int64_t study, std::int64_t trial);
  std::string now_text() const { return time_text(microseconds_now(), zone_); }

  std::unique_ptr<Database> database_;
  Zone zone_;
  Details details_ = Details::all;
  Distributions distributions_;
  std::map<std::int64_t, Records> records_;          ///< by study
  std::map<std::int64_t, Counts> counts_;            ///< by study
  std::map<std::int64_t, std::int64_t> studies_of_;  ///< by trial, of those that run here
  /// By study and parameter: the distribution with which all others of that name must agree.
  std::map<std::pair<std::int64_t, std::string>, samplers::Distribution> agreed_;
};

}  // namespace mase::storage
