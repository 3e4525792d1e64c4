// SPDX-License-Identifier: Apache-2.0
// The tables and indices of Optuna's schema v3.2.0.a in both dialects, and the check of an existing
// database.
#include "search/storage/schema.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::storage {
namespace {

constexpr const char* written_version = "v3.2.0.a";
constexpr const char* older_version = "v3.0.0.d";
constexpr const char* library_version = "5.0.0";
constexpr std::int64_t schema_number = 12;  // frozen since Optuna uses Alembic's versions

constexpr std::array<std::string_view, 15> tables{
    "CREATE TABLE studies (study_id {serial}, study_name VARCHAR(512) NOT NULL, "
    "PRIMARY KEY (study_id))",
    "CREATE UNIQUE INDEX ix_studies_study_name ON studies (study_name)",
    "CREATE TABLE version_info (version_info_id INTEGER NOT NULL, schema_version INTEGER, "
    "library_version VARCHAR(256), PRIMARY KEY (version_info_id), CHECK (version_info_id=1))",
    "CREATE TABLE study_directions (study_direction_id {serial}, direction {direction} NOT NULL, "
    "study_id INTEGER NOT NULL, objective INTEGER NOT NULL, PRIMARY KEY (study_direction_id), "
    "UNIQUE (study_id, objective), FOREIGN KEY(study_id) REFERENCES studies (study_id))",
    "CREATE TABLE study_user_attributes (study_user_attribute_id {serial}, study_id INTEGER, "
    "\"key\" VARCHAR(512), value_json TEXT, PRIMARY KEY (study_user_attribute_id), "
    "UNIQUE (study_id, \"key\"), FOREIGN KEY(study_id) REFERENCES studies (study_id))",
    "CREATE TABLE study_system_attributes (study_system_attribute_id {serial}, study_id INTEGER, "
    "\"key\" VARCHAR(512), value_json TEXT, PRIMARY KEY (study_system_attribute_id), "
    "UNIQUE (study_id, \"key\"), FOREIGN KEY(study_id) REFERENCES studies (study_id))",
    "CREATE TABLE trials (trial_id {serial}, number INTEGER, study_id INTEGER, "
    "state {state} NOT NULL, datetime_start {time}, datetime_complete {time}, "
    "PRIMARY KEY (trial_id), FOREIGN KEY(study_id) REFERENCES studies (study_id))",
    "CREATE INDEX ix_trials_study_id ON trials (study_id)",
    "CREATE TABLE trial_user_attributes (trial_user_attribute_id {serial}, trial_id INTEGER, "
    "\"key\" VARCHAR(512), value_json TEXT, PRIMARY KEY (trial_user_attribute_id), "
    "UNIQUE (trial_id, \"key\"), FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    "CREATE TABLE trial_system_attributes (trial_system_attribute_id {serial}, trial_id INTEGER, "
    "\"key\" VARCHAR(512), value_json TEXT, PRIMARY KEY (trial_system_attribute_id), "
    "UNIQUE (trial_id, \"key\"), FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    "CREATE TABLE trial_params (param_id {serial}, trial_id INTEGER, param_name VARCHAR(512), "
    "param_value {real}, distribution_json TEXT, PRIMARY KEY (param_id), "
    "UNIQUE (trial_id, param_name), FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    "CREATE TABLE trial_values (trial_value_id {serial}, trial_id INTEGER NOT NULL, "
    "objective INTEGER NOT NULL, value {real}, value_type {value_type} NOT NULL, "
    "PRIMARY KEY (trial_value_id), UNIQUE (trial_id, objective), "
    "FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    "CREATE TABLE trial_intermediate_values (trial_intermediate_value_id {serial}, "
    "trial_id INTEGER NOT NULL, step INTEGER NOT NULL, intermediate_value {real}, "
    "intermediate_value_type {intermediate_type} NOT NULL, "
    "PRIMARY KEY (trial_intermediate_value_id), UNIQUE (trial_id, step), "
    "FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    "CREATE TABLE trial_heartbeats (trial_heartbeat_id {serial}, trial_id INTEGER NOT NULL, "
    "heartbeat {time} NOT NULL, PRIMARY KEY (trial_heartbeat_id), UNIQUE (trial_id), "
    "FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))",
};

std::string in_dialect(std::string_view statement, const Dialect& dialect) {
  std::string sql(statement);
  sql = replace_all(sql, "{serial}", dialect.serial);
  sql = replace_all(sql, "{time}", dialect.time);
  sql = replace_all(sql, "{real}", dialect.real);
  sql = replace_all(sql, "{direction}", dialect.direction);
  sql = replace_all(sql, "{state}", dialect.state);
  sql = replace_all(sql, "{value_type}", dialect.value_type);
  return replace_all(sql, "{intermediate_type}", dialect.intermediate_type);
}

bool has_table(Database& database, std::string_view table) {
  const Rows rows = database.query(std::string(database.dialect().tables));
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Row& row) { return row.at(0) == Value(std::string(table)); });
}

/// The names of all tables as text: "'studies', 'version_info', ...".
std::string table_names() {
  std::vector<std::string> names;
  for (const std::string_view statement : tables)
    if (statement.starts_with("CREATE TABLE "))
      names.push_back("'" + split(statement.substr(13), ' ').front() + "'");
  return join(names, ", ");
}

/// Refuses views and the like under the names of the tables; the file may be untrusted.
void refuse_strange(Database& database) {
  if (database.dialect().strange.empty()) return;
  const Rows rows = database.query(
      replace_all(std::string(database.dialect().strange), "{tables}", table_names()));
  if (!rows.empty())
    file_error(database.name() + ": '" + text(rows[0].at(0), database.name()) +
               "' is a view, a virtual table or has computed columns, which no database of a study "
               "has; read it with `sqlite3` if you trust it");
}

void create_tables(Database& database) {
  for (const std::string_view statement : database.dialect().before_tables)
    database.later(std::string(statement));
  for (const std::string_view statement : tables)
    database.later(in_dialect(statement, database.dialect()));
  database.later("INSERT INTO version_info VALUES (1, $1, $2)", {schema_number, library_version});
  database.later("INSERT INTO alembic_version VALUES ($1)", {written_version});
}

struct Version {
  std::string alembic, library;
};

/// Reads the version; nothing while Optuna is still creating the database in several transactions.
std::optional<Version> read_version(Database& database) {
  refuse_strange(database);
  if (!has_table(database, "alembic_version") || !has_table(database, "version_info")) return {};
  const Rows alembic = database.query("SELECT version_num FROM alembic_version");
  const Rows info = database.query("SELECT library_version FROM version_info");
  if (alembic.empty() || info.empty()) return {};
  const std::string where = database.name() + ", its version";
  return Version{text(alembic[0].at(0), where), text(info[0].at(0), where)};
}

[[noreturn]] void refuse(const Database& database, const Version& version) {
  file_error(database.name() + ": its schema is " + version.alembic + " (Optuna " +
             version.library + "), but mase reads " + written_version + " and " + older_version +
             "; run `optuna storage upgrade --storage URL` with a newer Optuna, or start a new "
             "database");
}

[[noreturn]] void refuse_half(const Database& database) {
  file_error(database.name() +
             ": it has a table 'studies' but no schema version, so it was not fully created (or "
             "Optuna is older than 0.9); open it once with Optuna, or start a new database");
}

/// Creates what is missing and reads the version, in one transaction.
std::optional<Version> create_or_read(Database& database) {
  std::optional<Version> version;
  database.transact(Access::write, [&] {
    if (!has_table(database, "studies")) create_tables(database);
    version = read_version(database);
  });
  return version;
}

std::optional<Version> read_only(Database& database) {
  std::optional<Version> version;
  database.transact(Access::read, [&] { version = read_version(database); });
  return version;
}

}  // namespace

Zone open_schema(Database& database, Opening opening) {
  std::optional<Version> version = read_only(database);
  if (!version && opening == Opening::view) file_error(database.name() + " holds no studies");
  // If Optuna is just creating the database, it will be complete after a moment.
  for (int attempt = 0; !version && attempt < 20; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    version = create_or_read(database);
  }
  if (!version) refuse_half(database);
  if (version->alembic != written_version && version->alembic != older_version)
    refuse(database, *version);
  return zone_of(version->library);
}

}  // namespace mase::storage
