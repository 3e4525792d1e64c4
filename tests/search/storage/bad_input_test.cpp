// SPDX-License-Identifier: Apache-2.0
// Files, servers and rows that are not what they should be: each is a clear error, or harmless.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "base/file.hpp"
#include "search/storage/processes.hpp"
#include "search/storage/test_database.hpp"
#include "support/message_of.hpp"

namespace mase::storage {
namespace {

using test::complete;
using test::message_of;
using test::minimize;
using test::TemporaryFolder;
using test::TestDatabase;

std::string refusal(const std::string& url) {
  return message_of(Fault::file, [&] { open_storage(url, 0.2); });
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a file that is no database is refused and stays as it is", "[sqlite]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("notes.txt");
  const std::string words(3000, 'a');
  write_file(path, words);
  CHECK(has(refusal(path), path + ": not an SQLite database"));
  CHECK(read_file(path) == words);
}

TEST_CASE("a folder that does not exist is named", "[sqlite]") {
  const TemporaryFolder folder;
  CHECK(has(refusal("sqlite:///" + folder.file("none/study.db")), "folder must exist"));
  CHECK(has(refusal(folder.path()), folder.path()));
}

TEST_CASE("a read-only file is refused", "[sqlite]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("study.db");
  minimize(*open_storage(path));
  ::chmod(path.c_str(), 0444);
  ::chmod(folder.path().c_str(), 0755);
  // Root may write everything, so another user opens the file.
  const pid_t other = test::start_process([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) file_error("cannot become another user");
    if (!has(refusal(path), "read-only")) file_error("not refused: " + refusal(path));
  });
  CHECK(test::ended_well(other));
}

TEST_CASE("a read-only file can be viewed, and viewing creates nothing", "[sqlite]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("study.db");
  {
    const auto storage = open_storage(path);
    storage->begin_trial(minimize(*storage), Tree::dict());
  }
  const std::string bytes = read_file(path);
  ::chmod(path.c_str(), 0444);
  ::chmod(folder.path().c_str(), 0555);
  const pid_t other = test::start_process([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) file_error("cannot become another user");
    const auto storage = view_storage(path);
    if (storage->trials(storage->studies().at(0)).size() != 1) file_error("not one trial");
  });
  CHECK(test::ended_well(other));
  ::chmod(folder.path().c_str(), 0755);
  CHECK(read_file(path) == bytes);
  const auto refused = [](const std::string& url) {
    return message_of(Fault::file, [&] { view_storage(url, 0.2); });
  };
  CHECK(has(refused(folder.file("none.db")), "no such database"));
  CHECK_FALSE(file_exists(folder.file("none.db")));
  write_file(folder.file("empty.db"), "");
  CHECK(has(refused(folder.file("empty.db")), "holds no studies"));
  CHECK(read_file(folder.file("empty.db")).empty());
}

TEST_CASE("a study that somebody keeps locked is given up after the timeout") {
  const TestDatabase database;
  const auto storage = open_storage(database.url(), 0.3);
  const Study study = minimize(*storage);
  const auto raw = database.raw();
  raw->transact(Access::write, [&] {
    raw->execute("UPDATE studies SET study_name = study_name");
    const std::string message =
        message_of(Fault::file, [&] { storage->begin_trial(study, Tree::dict()); });
    CHECK(has(message, "locked by another program for 0.3 s"));
    CHECK_FALSE(has(message, "tops3cret"));
    CHECK(storage->trials(study).empty());  // reading goes on
  });
  CHECK(storage->begin_trial(study, Tree::dict())->trial.number == 0);
}

TEST_CASE("a file that cannot grow is an error, and what was finished stays", "[sqlite]") {
  const TestDatabase database;
  const Study study = minimize(*database.open());
  const pid_t worker = test::start_process([&] {
    const rlimit limit{400000, 400000};
    ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto storage = database.open();
    const std::string message = message_of(Fault::file, [&] {
      for (;;) storage->finish(storage->begin_trial(study, Tree::dict())->id, complete(1));
    });
    if (!has(message, "is the disk full?")) file_error(message);
  });
  CHECK(test::ended_well(worker));
  const auto storage = database.open();
  const std::size_t count = storage->trials(study).size();
  CHECK(count > 10);
  CHECK(storage->begin_trial(study, Tree::dict())->trial.number ==
        static_cast<std::int64_t>(count));
}

TEST_CASE("a damaged database is an error", "[sqlite]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("study.db");
  minimize(*open_storage(path));
  std::string bytes = read_file(path);
  std::fill(bytes.begin() + 4096, bytes.end(), '\x7f');
  write_file(path, bytes);
  CHECK(has(message_of(Fault::file, [&] { open_storage(path)->studies(); }), "damaged"));
}

TEST_CASE("a closed database is one plain file", "[sqlite]") {
  const TemporaryFolder folder;
  {
    const auto one = open_storage(folder.file("study.db")),
               two = open_storage(folder.file("study.db"));
    one->begin_trial(minimize(*two), Tree::dict());
  }
  CHECK(folder.entries() == 1);
  constexpr std::size_t write_version = 18;  // byte of the header: 1 rollback journal, 2 WAL
  CHECK(read_file(folder.file("study.db"))[write_version] == 1);
}

TEST_CASE("URLs of other databases, and of none, say what would work") {
  CHECK(has(refusal("mysql://me:s3cret@host/study"), "'mysql'"));
  CHECK_FALSE(has(refusal("mysql://me:s3cret@host/study"), "s3cret"));
  CHECK(has(refusal("sqlite://"), "sqlite:///FILE"));
  CHECK(has(refusal("sqlite:///:memory:"), "sqlite:///FILE"));
}

TEST_CASE("a server that is not there is named without the password") {
  const std::string message = refusal("postgresql+psycopg2://me:s3cret@127.0.0.1:1/study");
  CHECK(has(message, "postgresql://me@127.0.0.1:1/study: no connection"));
  CHECK_FALSE(has(message, "s3cret"));
}

TEST_CASE("a password that is not encoded in the URL is not quoted back") {
  for (const char* url :
       {"postgresql://me:s3c%ret@127.0.0.1:1/study", "postgresql://me:s3c@ret@127.0.0.1:1/study"}) {
    const std::string message = refusal(url);
    CHECK(has(message, "write %40 or %25"));
    CHECK_FALSE(has(message, "s3c"));
  }
  CHECK_FALSE(has(refusal("postgresql://me:s3cret@127.0.0.1:none/study"), "s3cret"));
}

TEST_CASE("a server that refuses the password says so without it") {
  if (test::server() == nullptr) return;
  std::string url = TestDatabase().url();
  url.insert(url.find('@'), "x");
  const std::string message = refusal(url);
  CHECK(has(message, "authentication failed"));
  CHECK_FALSE(has(message, "tops3cret"));
}

void end_session(const TestDatabase& database, const Value& session) {
  database.raw()->query("SELECT pg_terminate_backend($1)", {session});
}

TEST_CASE("a lost connection is opened again, and what was lost with it runs again for a while") {
  if (test::server() == nullptr) return;
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  database.raw()->query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
      "AND pid <> pg_backend_pid()");
  CHECK(storage->begin_trial(study, Tree::dict())->trial.number == 0);

  const auto raw = open_postgresql(database.url(), std::chrono::milliseconds(500));
  raw->execute("CREATE TABLE marks (mark INTEGER)");
  const auto lose = [&](int times) {
    raw->transact(Access::write, [&, attempt = 0]() mutable {
      raw->execute("INSERT INTO marks VALUES (1)");
      if (attempt++ >= times) return;
      end_session(database, raw->query("SELECT pg_backend_pid()").at(0)[0]);
      raw->query("SELECT 1");
    });
  };
  lose(2);
  CHECK(raw->query("SELECT count(*) FROM marks").at(0)[0] == Value(std::int64_t{1}));
  const std::string message = message_of(Fault::file, [&] { lose(1000000); });
  CHECK(has(message, "is gone"));
  CHECK_FALSE(has(message, "tops3cret"));
}

class Strange {
 public:
  Strange() {
    Outcome outcome = complete(1);
    outcome.user["key"] = 1;
    const Record record = *storage->begin_trial(study, Tree::dict());
    storage->set_parameters(record, {{"x", 0.5}}, test::unit_space(), Tree::dict());
    storage->finish(record.id, outcome);
  }
  void change(const std::string& sql) const { database.raw()->execute(sql); }
  std::string message() const {
    return message_of(Fault::file, [&] { database.open()->trials(study); });
  }

  TestDatabase database;
  std::unique_ptr<Storage> storage = database.open();
  Study study = minimize(*storage);
};

TEST_CASE("an attribute that is no JSON is read as its text") {
  const Strange strange;
  for (const char* text : {"{\"a\": [1, 2", "", "NaN and more", "\"\\ud800\"", "[[[[[[[[1"}) {
    strange.database.raw()->execute("UPDATE trial_user_attributes SET value_json = $1", {text});
    CHECK(strange.database.open()->trials(strange.study).at(0).user.at("key") == Tree(text));
  }
}

TEST_CASE("Python's words for numbers that are not finite are read in attributes") {
  const Strange strange;
  strange.change(
      "UPDATE trial_user_attributes SET value_json = "
      "'[NaN, -Infinity, {\"Infinity\": Infinity}, \"NaN \\\" Infinity\"]'");
  const Tree value = strange.database.open()->trials(strange.study).at(0).user.at("key");
  REQUIRE(value.size() == 4);
  CHECK(std::isnan(value.as_list()[0].as_double()));
  CHECK(value.as_list()[1].as_double() == -HUGE_VAL);
  CHECK(value.as_list()[2].at("Infinity").as_double() == HUGE_VAL);
  CHECK(value.as_list()[3] == Tree("NaN \" Infinity"));
}

TEST_CASE("a distribution that is none names its trial and parameter") {
  const Strange strange;
  for (const char* text : {"{", "[]", "null", R"({"name": "Gauss", "attributes": {}})", ""}) {
    strange.database.raw()->execute("UPDATE trial_params SET distribution_json = $1", {text});
    CHECK(has(strange.message(), "trial 0, parameter 'x'"));
  }
}

TEST_CASE("words and numbers that Optuna does not write are refused", "[sqlite]") {
  const Strange strange;
  for (const char* sql :
       {"UPDATE trials SET state = 'DONE'", "UPDATE trial_values SET value = NULL",
        "UPDATE trial_values SET value_type = 'BIG'",
        "UPDATE trial_params SET param_value = 'much'"}) {
    strange.change(sql);
    CHECK(has(strange.message(), strange.database.raw()->name()));
    strange.change("UPDATE trials SET state = 'COMPLETE'");
    strange.change("UPDATE trial_values SET value = 1, value_type = 'FINITE'");
    strange.change("UPDATE trial_params SET param_value = 0.5");
  }
  CHECK(strange.database.open()->trials(strange.study).at(0).trial.values ==
        std::vector<double>{1});
}

TEST_CASE("a missing time is no time") {
  const Strange strange;
  strange.change("UPDATE trials SET datetime_start = NULL, datetime_complete = NULL");
  CHECK_FALSE(strange.database.open()->trials(strange.study).at(0).start);
}

}  // namespace
}  // namespace mase::storage
