// SPDX-License-Identifier: Apache-2.0
// Many workers on one study: every number and every waiting trial goes to one of them, the trials
// of the dead are retried once, and a worker that is killed at any moment leaves the database
// whole.
#include <signal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "base/random.hpp"
#include "search/storage/processes.hpp"
#include "search/storage/test_database.hpp"

namespace mase::storage {
namespace {

using test::complete;
using test::in_processes;
using test::minimize;
using test::TestDatabase;

void run_trials(Storage& storage, const Study& study, int count) {
  for (int i = 0; i < count; ++i) {
    const Record record = *storage.begin_trial(study, Tree::dict());
    const double x = static_cast<double>(record.trial.number) / 1024;
    storage.set_parameters(record, {{"x", x}}, test::unit_space(), Tree::dict());
    if (!storage.finish(record.id, complete(2 * x))) file_error("a trial was taken away");
  }
}

/// Each of 0 .. count-1 once, complete, with the value that belongs to its number.
void check_whole(const TestDatabase& database, const Study& study, std::size_t count) {
  const auto storage = database.open();
  const std::vector<Record>& records = storage->trials(study);
  REQUIRE(records.size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE(records[i].trial.number == static_cast<std::int64_t>(i));
    REQUIRE(records[i].trial.values == std::vector<double>{static_cast<double>(i) / 512});
    REQUIRE(records[i].trial.params.at("x") == static_cast<double>(i) / 1024);
  }
}

TEST_CASE("four processes number the trials of a study without gap or repetition") {
  const TestDatabase database;
  const Study study = minimize(*database.open());
  CHECK(in_processes(4, [&](int) { run_trials(*database.open(), study, 25); }));
  check_whole(database, study, 100);
}

TEST_CASE("four threads number the trials of a study without gap or repetition") {
  const TestDatabase database;
  const Study study = minimize(*database.open());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { run_trials(*database.open(), study, 25); });
  for (std::thread& thread : threads) thread.join();
  check_whole(database, study, 100);
}

TEST_CASE("processes that open a new database at once share its tables and its study") {
  const TestDatabase database;
  CHECK(in_processes(4, [&](int) {
    const auto storage = database.open();
    run_trials(*storage, minimize(*storage), 5);
  }));
  const auto storage = database.open();
  REQUIRE(storage->studies().size() == 1);
  check_whole(database, storage->studies()[0], 20);
}

TEST_CASE("processes that open and close all the time lose nothing") {
  const TestDatabase database;
  const Study study = minimize(*database.open());
  CHECK(in_processes(4, [&](int) {
    for (int i = 0; i < 15; ++i) run_trials(*database.open(), study, 1);
  }));
  check_whole(database, study, 60);
}

TEST_CASE("each waiting trial is claimed by one process") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  for (int i = 0; i < 40; ++i) storage->enqueue(study, Tree::dict(), Tree::dict());
  CHECK(in_processes(4, [&](int) { run_trials(*database.open(), study, 10); }));
  check_whole(database, study, 40);
}

/// A running trial whose worker died long ago.
Stale dead_trial(const TestDatabase& database, Storage& storage, const Study& study) {
  const Record record = *storage.begin_trial(study, Tree::dict());
  storage.set_parameters(record, {{"x", 0.25}}, test::unit_space(), Tree::dict());
  database.raw()->execute(
      "UPDATE trial_heartbeats SET heartbeat = '2020-01-01 00:00:00' WHERE trial_id = $1",
      {record.id});
  const std::vector<Stale> found = storage.stale(study, 60);
  REQUIRE(found.size() == 1);
  return found[0];
}

int winners_among(int callers, const std::function<bool(int)>& call) {
  std::atomic<int> winners = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < callers; ++i) threads.emplace_back([&, i] { winners += call(i) ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  return winners;
}

TEST_CASE("one of eight callers retries a dead worker's trial") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  const Stale stale = dead_trial(database, *storage, study);
  CHECK(winners_among(8, [&](int) { return database.open()->fail_and_retry(study, stale); }) == 1);
  REQUIRE(storage->trials(study).size() == 2);
  CHECK(storage->trials(study)[0].trial.state == TrialState::fail);
  CHECK(storage->trials(study)[1].trial.state == TrialState::waiting);
}

TEST_CASE("one of eight callers takes a dead worker's trial over or retries it") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  const Stale stale = dead_trial(database, *storage, study);
  CHECK(winners_among(8, [&](int i) {
          const auto own = database.open();
          return i % 2 == 0 ? own->take_over(stale) : own->fail_and_retry(study, stale);
        }) == 1);
  CHECK(storage->stale(study, 60).empty());
}

TEST_CASE("a trial that was taken over is finished by its new owner") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  const Stale stale = dead_trial(database, *storage, study);
  CHECK(database.open()->take_over(stale));
  CHECK_FALSE(storage->take_over(stale));
  CHECK(storage->finish(stale.id, complete(1)));
  CHECK(storage->trials(study).size() == 1);
}

TEST_CASE("a heartbeat keeps a trial alive") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  const Stale stale = dead_trial(database, *storage, study);
  storage->heartbeat(stale.id);
  CHECK(storage->stale(study, 60).empty());
  CHECK_FALSE(storage->fail_and_retry(study, stale));
  CHECK_FALSE(storage->take_over(stale));
}

TEST_CASE("a retry carries parameters and attributes along, and the history of all retries") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  Tree system = Tree::dict(), user = Tree::dict();
  system["grid_id"] = 3;
  user["note"] = "mine";
  storage->enqueue(study, parse_json(R"({"x": 0.25})", "test"), user);
  for (int death = 0; death < 2; ++death)
    CHECK(storage->fail_and_retry(study, dead_trial(database, *storage, study)));

  const Record retry = *storage->begin_trial(study, Tree::dict());
  CHECK(retry.trial.number == 2);
  CHECK(retry.trial.attributes.at("failed_trial") == Tree(0));
  CHECK(to_json(retry.trial.attributes.at("retry_history"), -1) == "[0,1]");
  CHECK(to_json(retry.trial.attributes.at("fixed_params"), -1) == R"({"x":0.25})");
  CHECK(retry.trial.params == samplers::Params{{"x", 0.25}});
  CHECK(retry.user.at("note") == Tree("mine"));
}

TEST_CASE(
    "a worker that is killed again and again loses no finished trial and leaves no half one") {
  const TestDatabase database;
  const Study study = minimize(*database.open());
  Random random(7);
  std::size_t acknowledged = 0;
  for (int round = 0; round < 15; ++round) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t worker = test::start_process([&] {
      const auto storage = database.open();
      for (const char byte = 'x';;) {
        run_trials(*storage, study, 1);
        if (::write(ends[1], &byte, 1) != 1) ::_exit(1);
      }
    });
    ::close(ends[1]);
    // At any moment of the trials after the first, however slow the machine is.
    char byte = 0;
    if (::read(ends[0], &byte, 1) == 1) ++acknowledged;
    ::usleep(static_cast<unsigned>(random.below(30000)));
    ::kill(worker, SIGKILL);
    ::waitpid(worker, nullptr, 0);
    while (::read(ends[0], &byte, 1) == 1) ++acknowledged;
    ::close(ends[0]);
  }
  const auto storage = database.open();
  std::size_t finished = 0;
  const std::vector<Record>& records = storage->trials(study);
  for (std::size_t i = 0; i < records.size(); ++i) {
    CHECK(records[i].trial.number == static_cast<std::int64_t>(i));
    if (records[i].trial.state != TrialState::complete) continue;
    ++finished;
    CHECK(records[i].trial.values.size() == 1);
    CHECK(records[i].trial.params.size() == 1);
  }
  CHECK(acknowledged >= 15);
  CHECK(finished >= acknowledged);
  CHECK(records.size() <= finished + 15);
  if (test::server() == nullptr)
    CHECK(std::get<std::string>(database.raw()->query("PRAGMA integrity_check").at(0).at(0)) ==
          "ok");
}

}  // namespace
}  // namespace mase::storage
