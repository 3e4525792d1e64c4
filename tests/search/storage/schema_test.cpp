// SPDX-License-Identifier: Apache-2.0
// The tables are Optuna's own, and databases of other versions are read or refused, never changed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>

#include "base/file.hpp"
#include "base/text.hpp"
#include "search/storage/test_database.hpp"
#include "support/message_of.hpp"
#include "test_paths.hpp"

namespace mase::storage {
namespace {

using test::message_of;
using test::minimize;
using test::TestDatabase;

/// Words separated by single spaces.
std::string one_line(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string& word : split(replace_all(text, "\n", " "), ' '))
    if (!trim(word).empty()) words.emplace_back(trim(word));
  return join(words, " ");
}

/// SQLite keeps the statements as they were written: blanks around parentheses do not matter.
std::string compact(std::string text) {
  text = replace_all(one_line(text), "( ", "(");
  return replace_all(text, " )", ")");
}

TEST_CASE("the tables and indices are those that Optuna creates", "[sqlite]") {
  const TestDatabase database;
  database.open();
  std::vector<std::string> lines;
  for (const Row& row : database.raw()->query(
           "SELECT type || ' ' || name || ' ' || sql FROM sqlite_master WHERE sql NOT NULL"))
    lines.push_back(compact(std::get<std::string>(row[0])));
  std::sort(lines.begin(), lines.end());
  lines.push_back(std::get<std::string>(
      database.raw()
          ->query("SELECT schema_version || ' ' || library_version || ' ' || version_num FROM "
                  "version_info, alembic_version")
          .at(0)[0]));

  std::vector<std::string> expected;
  for (const std::string& line :
       split(trim(read_file(MASE_TEST_FOLDER "/search/storage/optuna_schema.txt")), '\n'))
    expected.push_back(compact(line));
  CHECK(lines == expected);
}

TEST_CASE("a database of another schema version is refused with both versions") {
  const TestDatabase database;
  database.open();
  database.raw()->execute("UPDATE alembic_version SET version_num = 'v9.1.0.a'");
  database.raw()->execute("UPDATE version_info SET library_version = '9.1.2'");
  const std::string message = message_of(Fault::file, [&] { database.open(); });
  for (const char* part : {"v9.1.0.a", "9.1.2", "v3.2.0.a", "v3.0.0.d", "optuna storage upgrade"})
    CHECK(message.find(part) != std::string::npos);
}

TEST_CASE("tables without a version are refused") {
  const TestDatabase database;
  database.open();
  database.raw()->execute("DELETE FROM alembic_version");
  CHECK(message_of(Fault::file, [&] { database.open(); }).find("no schema version") !=
        std::string::npos);
}

/// The time zone of the process for one test case.
class TimeZone {
 public:
  explicit TimeZone(const char* zone) {
    ::setenv("TZ", zone, 1);
    ::tzset();
  }
  TimeZone(const TimeZone&) = delete;
  TimeZone& operator=(const TimeZone&) = delete;
  ~TimeZone() {
    ::unsetenv("TZ");
    ::tzset();
  }
};

constexpr std::int64_t new_year = 1767225600000;  // 2026-01-01 00:00:00 UTC in milliseconds

/// The start of a trial whose row says nine o'clock.
std::int64_t nine_o_clock(const TestDatabase& database) {
  const auto storage = database.open();
  const Study study = minimize(*storage);
  const Record record = *storage->begin_trial(study, Tree::dict());
  database.raw()->execute(
      "UPDATE trials SET datetime_start = '2026-01-01 09:00:00.25' WHERE trial_id = $1",
      {record.id});
  return storage->trials(study).at(0).start.value();
}

TEST_CASE("times are UTC in a database of Optuna 5") {
  const TimeZone tokyo("JST-9");
  CHECK(nine_o_clock(TestDatabase()) == new_year + 9 * 3600 * 1000 + 250);
}

TEST_CASE("times are local in a database that an older Optuna created, and its version stays") {
  const TimeZone tokyo("JST-9");
  const TestDatabase database;
  database.open();
  database.raw()->execute("UPDATE alembic_version SET version_num = 'v3.0.0.d'");
  database.raw()->execute("UPDATE version_info SET library_version = '3.1.0'");
  database.raw()->execute("DROP INDEX ix_trials_study_id");
  CHECK(nine_o_clock(database) == new_year + 250);
  const auto raw = database.raw();
  CHECK(std::get<std::string>(raw->query("SELECT version_num FROM alembic_version").at(0)[0]) ==
        "v3.0.0.d");
}

}  // namespace
}  // namespace mase::storage
