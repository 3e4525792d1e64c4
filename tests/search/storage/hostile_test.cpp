// SPDX-License-Identifier: Apache-2.0
// Databases of strangers: what their schema has beside tables is never run, and what they hold is
// refused in words, whoever only looks or goes on with the study.
#include <sqlite3.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "search/storage/test_database.hpp"
#include "support/message_of.hpp"

namespace mase::storage {
namespace {

using test::complete;
using test::message_of;
using test::minimize;
using test::TemporaryFolder;

/// A file with one study of one complete trial, and statements that a stranger ran on it.
class HostileFile {
 public:
  explicit HostileFile(const std::string& statements) {
    {
      const auto storage = open_storage(path());
      const Study study = minimize(*storage);
      const Record record = *storage->begin_trial(study, Tree::dict());
      storage->set_parameters(record, {{"x", 0.5}}, test::unit_space(), Tree::dict());
      storage->finish(record.id, complete(1));
    }
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(path().c_str(), &database) == SQLITE_OK);
    INFO(sqlite3_errmsg(database));
    REQUIRE(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(database);
  }

  std::string path() const { return folder_.file("study.db"); }
  /// What a look at all studies and trials ends with.
  std::string message_of_view() const {
    return message_of(Fault::file, [&] { look(*view_storage(path())); });
  }
  /// The same where the study would go on.
  std::string message_of_search() const {
    return message_of(Fault::file, [&] { look(*open_storage(path())); });
  }

 private:
  static void look(Storage& storage) {
    for (const Study& study : storage.studies()) storage.trials(study);
  }

  TemporaryFolder folder_;
};

void check_refused(const std::string& statements, const std::string& part) {
  const HostileFile file(statements);
  for (const std::string& message : {file.message_of_view(), file.message_of_search()}) {
    CHECK(message.find(file.path()) != std::string::npos);
    CHECK(message.find(part) != std::string::npos);
  }
}

TEST_CASE("a view in place of a table is refused and not run", "[sqlite]") {
  const std::string endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";
  check_refused("DROP TABLE trials; CREATE VIEW trials AS " + endless +
                    "i AS trial_id, i AS number, 1 AS study_id, 'COMPLETE' AS state, "
                    "NULL AS datetime_start, NULL AS datetime_complete FROM n",
                "'trials' is a view");
  check_refused("DROP TABLE study_directions; CREATE VIEW Study_Directions AS " + endless +
                    "1 AS study_id, i AS objective, 'MINIMIZE' AS direction FROM n",
                "'Study_Directions' is a view");
  check_refused("DROP TABLE alembic_version; CREATE VIEW alembic_version AS " + endless +
                    "'v3.2.0.a' AS version_num FROM n",
                "'alembic_version' is a view");
}

TEST_CASE("computed columns in place of stored ones are refused and not run", "[sqlite]") {
  check_refused(
      "ALTER TABLE trial_params DROP COLUMN distribution_json; ALTER TABLE trial_params ADD COLUMN "
      "distribution_json TEXT AS (hex(zeroblob(400000000)))",
      "computed columns");
}

TEST_CASE("triggers of the file are not run", "[sqlite]") {
  const HostileFile file(
      "CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM studies; INSERT INTO studies "
      "(study_name) VALUES ('mine'); END");
  const auto storage = open_storage(file.path());
  const Study study = *storage->find_study("study");
  storage->begin_trial(study, Tree::dict());
  REQUIRE(storage->studies().size() == 1);
  CHECK(storage->studies()[0].name == "study");
  CHECK(storage->trials(study).size() == 2);
}

TEST_CASE("texts beyond all measure are refused", "[sqlite]") {
  for (const char* statement :
       {"UPDATE studies SET study_name = hex(zeroblob(40000000))",
        "UPDATE trial_params SET param_name = hex(zeroblob(40000000))",
        "UPDATE trial_params SET distribution_json = zeroblob(80000000)",
        "INSERT INTO trial_user_attributes VALUES (1, 1, 'a', hex(zeroblob(40000000)))"})
    check_refused(statement, "longer than 64 MiB");
}

TEST_CASE("numbers that no trial has and cells of other kinds are refused", "[sqlite]") {
  for (const char* statement :
       {"UPDATE trials SET number = 9223372036854775807", "UPDATE trials SET number = -1",
        "UPDATE trials SET trial_id = 9223372036854775807"})
    check_refused(statement, "is not the number of a trial");
  for (const char* statement :
       {"UPDATE trials SET number = 'one'", "UPDATE trials SET state = 7",
        "UPDATE study_directions SET direction = 1.5", "UPDATE alembic_version SET version_num = 3",
        "UPDATE trial_values SET value_type = 2",
        "INSERT INTO trial_intermediate_values VALUES (1, 1, 0.5, 1, 'FINITE')"})
    check_refused(statement, "");
}

TEST_CASE("of very many studies only as many are read as are wanted", "[sqlite]") {
  const HostileFile file(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) INSERT INTO "
      "studies (study_name) SELECT 'study' || i FROM n");
  const auto storage = view_storage(file.path());
  const std::vector<Study> some = storage->studies(3);
  REQUIRE(some.size() == 3);
  CHECK(some[2].name == "study2");
  CHECK(storage->find_study("study49999"));
  CHECK(storage->trials(some[2]).empty());
}

TEST_CASE("what is no regular file is refused and not waited for", "[sqlite]") {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& path : {pipe, std::string("/dev/zero")}) {
    CHECK(message_of(Fault::file, [&] { view_storage(path); }).find("regular file") !=
          std::string::npos);
    CHECK(message_of(Fault::file, [&] { open_storage(path); }).find("regular file") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace mase::storage
