// SPDX-License-Identifier: Apache-2.0
// What a trial costs does not depend on how many the study has: the work of SQLite is counted in
// steps of its virtual machine, the memory in bytes of the heap, neither in seconds.
#include <malloc.h>
#include <sqlite3.h>

#include <catch2/catch.hpp>

#include "search/storage/test_database.hpp"

namespace mase::storage {
namespace {

using test::complete;
using test::minimize;
using test::TestDatabase;

/// Steps of all statements that have ended, on connections opened from now on.
class Steps {
 public:
  Steps() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(&Steps::watch)); }
  ~Steps() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&Steps::watch)); }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  std::int64_t taken() const { return std::exchange(steps_, 0); }

 private:
  static int watch(sqlite3* database, const char**, const void*) {
    return sqlite3_trace_v2(database, SQLITE_TRACE_PROFILE, &Steps::add, nullptr);
  }
  static int add(unsigned, void*, void* statement, void*) {
    steps_ +=
        sqlite3_stmt_status(static_cast<sqlite3_stmt*>(statement), SQLITE_STMTSTATUS_VM_STEP, 1);
    return 0;
  }
  static inline std::int64_t steps_ = 0;
};

samplers::Space layers() {
  samplers::Space space;
  for (int i = 0; i < 12; ++i)
    space.push_back({"module/layer" + std::to_string(i) + "/config/data_in_width",
                     samplers::CategoricalDistribution{{Tree(2), Tree(4), Tree(8)}}, std::nullopt});
  return space;
}

/// A trial as a worker has it, with the looks at the others that it takes.
void add_trial(Storage& storage, const Study& study, const samplers::Space& space) {
  storage.stale(study, 60);
  const Record record = *storage.begin_trial(study, Tree::dict(), 1000000);
  storage.trials(study);
  samplers::Params params;
  for (const samplers::Dimension& dimension : space) params[dimension.name] = 1;
  storage.set_parameters(record, params, space, Tree::dict());
  storage.finish(record.id, complete(static_cast<double>(record.trial.number)));
  storage.trials(study);
}

void grow(Storage& storage, const Study& study, int count) {
  const samplers::Space space = layers();
  for (int i = 0; i < count; ++i) add_trial(storage, study, space);
}

TEST_CASE("the database's work for a trial does not grow with the study", "[sqlite]") {
  const Steps steps;
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  grow(*storage, study, 50);
  steps.taken();
  grow(*storage, study, 20);
  const std::int64_t early = steps.taken();
  REQUIRE(early > 20 * 100);
  grow(*storage, study, 900);
  steps.taken();
  grow(*storage, study, 20);
  // Ten steps more for each trial: pages of the tables split now and then.
  CHECK(steps.taken() <= early + 20 * 10);
}

TEST_CASE("a trial that nobody ends does not make the database's work grow", "[sqlite]") {
  const Steps steps;
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  storage->begin_trial(study, Tree::dict());
  grow(*storage, study, 50);
  const auto reading = [&] {
    steps.taken();
    storage->trials(study);
    return steps.taken();
  };
  const std::int64_t early = reading();
  grow(*storage, study, 400);
  CHECK(reading() == early);
}

TEST_CASE("numbers go on where other workers and retries have left them") {
  const TestDatabase database;
  const auto one = database.open(), two = database.open();
  const Study study = minimize(*one);
  CHECK(one->begin_trial(study, Tree::dict(), 3)->trial.number == 0);
  CHECK(two->begin_trial(study, Tree::dict(), 3)->trial.number == 1);
  database.raw()->execute(
      "UPDATE trial_heartbeats SET heartbeat = '2020-01-01 00:00:00' WHERE trial_id = "
      "(SELECT trial_id FROM trials WHERE number = 0)");
  CHECK(two->fail_and_retry(study, two->stale(study, 60).at(0)));
  CHECK(one->begin_trial(study, Tree::dict(), 3)->trial.number == 2);  // the retry
  CHECK(one->begin_trial(study, Tree::dict(), 3)->trial.number == 3);  // the third of its own
  CHECK_FALSE(two->begin_trial(study, Tree::dict(), 3));
  CHECK(two->trials(study).size() == 4);
}

TEST_CASE("a trial of twelve parameters is held in less than three kilobytes", "[sqlite]") {
  const TestDatabase database;
  const auto writer = database.open();
  const Study study = minimize(*writer);
  grow(*writer, study, 300);
  const auto reader = database.open();
  reader->trials(study);  // its statements are prepared now
  grow(*writer, study, 300);
  const auto before = mallinfo2().uordblks;
  REQUIRE(reader->trials(study).size() == 600);
  CHECK(mallinfo2().uordblks - before < 300 * 3000);
}

}  // namespace
}  // namespace mase::storage
