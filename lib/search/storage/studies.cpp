// SPDX-License-Identifier: Apache-2.0
// Studies and their attributes.
#include <array>

#include "base/error.hpp"
#include "search/storage/optuna_storage.hpp"
#include "search/storage/schema.hpp"

namespace mase::storage {

namespace {

std::vector<Row> attribute_rows(const Tree& attributes) {
  std::vector<Row> rows;
  for (const auto& [key, value] : attributes.as_dict())
    rows.push_back({key, attribute_text(value)});
  return rows;
}

std::string attribute_columns(const std::string& table, const std::string& owner) {
  return table + " (" + owner + ", \"key\", value_json)";
}

std::string replaces_attribute(const std::string& owner) {
  return "ON CONFLICT (" + owner + ", \"key\") DO UPDATE SET value_json = excluded.value_json";
}

}  // namespace

OptunaStorage::OptunaStorage(std::unique_ptr<Database> database, Opening opening)
    : database_(std::move(database)), zone_(open_schema(*database_, opening)) {}

std::optional<Study> OptunaStorage::find_study(const std::string& name) {
  std::optional<Study> study;
  database_->transact(Access::read, [&] {
    const Rows rows =
        database_->query("SELECT study_id FROM studies WHERE study_name = $1", {name});
    if (rows.empty())
      study.reset();
    else
      study = read_study(integer(rows[0][0], "study_id"), name);
  });
  return study;
}

std::vector<Study> OptunaStorage::studies(std::int64_t most) {
  std::vector<Study> studies;
  database_->transact(Access::read, [&] {
    studies.clear();
    for (const Row& row : database_->query(
             "SELECT study_id, study_name FROM studies ORDER BY study_id LIMIT $1", {most}))
      studies.push_back(read_study(integer(row[0], "study_id"), text(row[1], "study_name")));
  });
  return studies;
}

Study OptunaStorage::create_study(const std::string& name, const std::vector<Direction>& directions,
                                  const Tree& user, const Tree& system) {
  MASE_CHECK(!directions.empty(), "a study needs an objective");
  Study study;
  database_->transact(Access::write, [&] {
    const Rows created = database_->query(
        "INSERT INTO studies (study_name) VALUES ($1) ON CONFLICT (study_name) DO NOTHING "
        "RETURNING study_id",
        {name});
    if (!created.empty()) {
      const std::int64_t id = integer(created[0][0], "study_id");
      std::vector<Row> rows;
      for (std::size_t i = 0; i < directions.size(); ++i)
        rows.push_back(
            {std::string(direction_name(directions[i])), id, static_cast<std::int64_t>(i)});
      insert_rows(*database_, "study_directions (direction, study_id, objective)", rows);
      write_attributes("study_user_attributes", "study_id", id, user);
      write_attributes("study_system_attributes", "study_id", id, system);
    }
    const Rows found =
        database_->query("SELECT study_id FROM studies WHERE study_name = $1", {name});
    study = read_study(integer(found.at(0)[0], "study_id"), name);
  });
  return study;
}

void OptunaStorage::set_user_attribute(const Study& study, std::string_view key,
                                       const Tree& value) {
  database_->transact(Access::write, [&] {
    write_attributes("study_user_attributes", "study_id", study.id,
                     Tree(Tree::Dict{{std::string(key), value}}));
  });
}

void OptunaStorage::set_system_attribute(const Study& study, std::string_view key,
                                         const Tree& value) {
  database_->transact(Access::write, [&] {
    write_attributes("study_system_attributes", "study_id", study.id,
                     Tree(Tree::Dict{{std::string(key), value}}));
  });
}

void OptunaStorage::delete_study(const Study& study) {
  constexpr std::array of_trials{"trial_user_attributes", "trial_system_attributes",
                                 "trial_params",          "trial_values",
                                 "trial_heartbeats",      "trial_intermediate_values"};
  constexpr std::array of_studies{"trials", "study_directions", "study_user_attributes",
                                  "study_system_attributes", "studies"};
  database_->transact(Access::write, [&] {
    for (const char* table : of_trials)
      database_->later("DELETE FROM " + std::string(table) +
                           " WHERE trial_id IN (SELECT trial_id FROM trials WHERE study_id = $1)",
                       {study.id});
    for (const char* table : of_studies)
      database_->later("DELETE FROM " + std::string(table) + " WHERE study_id = $1", {study.id});
  });
}

Study OptunaStorage::read_study(std::int64_t id, const std::string& name) {
  const std::string where = database_->name() + ", study '" + name + "'";
  Study study;
  study.id = id;
  study.name = name;
  database_->later("SELECT direction FROM study_directions WHERE study_id = $1 ORDER BY objective",
                   {id}, [&](const Rows& rows) {
                     for (const Row& row : rows)
                       study.directions.push_back(direction_from(text(row[0], where), where));
                   });
  ask_for_attributes("study_user_attributes", id, study.user);
  ask_for_attributes("study_system_attributes", id, study.system);
  database_->wait();
  return study;
}

void OptunaStorage::ask_for_attributes(const std::string& table, std::int64_t study,
                                       Tree& attributes) {
  database_->later(
      "SELECT \"key\", value_json FROM " + table + " WHERE study_id = $1 ORDER BY \"key\"", {study},
      [where = database_->name() + ", table " + table, &attributes](const Rows& rows) {
        for (const Row& row : rows)
          attributes[text(row[0], where)] = attribute_from(text(row[1], where));
      });
}

void OptunaStorage::write_attributes(const std::string& table, const std::string& owner,
                                     std::int64_t id, const Tree& attributes) {
  std::vector<Row> rows = attribute_rows(attributes);
  for (Row& row : rows) row.insert(row.begin(), id);
  insert_rows(*database_, attribute_columns(table, owner), rows, replaces_attribute(owner));
}

void OptunaStorage::write_newest_attributes(const std::string& table, std::int64_t study,
                                            const Tree& attributes) {
  insert_rows(*database_, attribute_columns(table, "trial_id"), attribute_rows(attributes), "",
              newest(study));
}

}  // namespace mase::storage
