// SPDX-License-Identifier: Apache-2.0
// An empty database for one test case: a file, or a database of the PostgreSQL server that
// with_postgres.py names in MASE_TEST_POSTGRESQL. And the study that most cases work on.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "search/storage/database.hpp"
#include "search/storage/storage.hpp"
#include "support/temporary_folder.hpp"

namespace mase::test {

inline const char* server() { return std::getenv("MASE_TEST_POSTGRESQL"); }

class TestDatabase {
 public:
  TestDatabase() {
    if (server() == nullptr) return;
    static int count = 0;
    name_ = "case_" + std::to_string(::getpid()) + "_" + std::to_string(count++);
    storage::open_postgresql(std::string(server()) + "/postgres", timeout)
        ->execute("CREATE DATABASE " + name_);
  }

  std::string url() const {
    return server() == nullptr ? "sqlite:///" + folder_.file("study.db")
                               : std::string(server()) + "/" + name_;
  }
  std::unique_ptr<storage::Storage> open() const { return storage::open_storage(url()); }
  /// For statements that the storage itself would not make.
  std::unique_ptr<storage::Database> raw() const {
    return server() == nullptr ? storage::open_sqlite(folder_.file("study.db"), timeout)
                               : storage::open_postgresql(url(), timeout);
  }

 private:
  static constexpr std::chrono::milliseconds timeout{600000};
  TemporaryFolder folder_;
  std::string name_;
};

inline storage::Study minimize(storage::Storage& storage, const std::string& name = "study") {
  return storage.create_study(name, {samplers::Direction::minimize}, Tree::dict(), Tree::dict());
}

inline storage::Outcome complete(double value) {
  storage::Outcome outcome;
  outcome.values = {value};
  return outcome;
}

/// One dimension "x" in [0, 1] without step.
inline samplers::Space unit_space() { return {{"x", samplers::FloatDistribution{}, std::nullopt}}; }

}  // namespace mase::test
