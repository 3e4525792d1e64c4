// SPDX-License-Identifier: Apache-2.0
// Pipeline sends statements to a PostgreSQL server without waiting for each one's result, so that
// many of them cost one round trip.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "search/storage/database.hpp"

// libpq's names of PGconn and PGresult.
struct pg_conn;
struct pg_result;

namespace mase::postgresql {

struct ClearResult {
  void operator()(pg_result* result) const;
};
using Result = std::unique_ptr<pg_result, ClearResult>;

/// A statement, and what is done with its result.
struct Statement {
  std::string sql;
  storage::Row parameters;
  storage::Database::Take take;     ///< may be empty
  std::int64_t* changed = nullptr;  ///< takes the number of rows that changed
};

/// The results of statements in their order, up to the first that failed.
struct Results {
  std::vector<Result> good;
  Result failure;            ///< null if all are good, or the connection was lost
  bool is_complete = false;  ///< the server has answered to the end
};

/// The statements of one connection. Each text with parameters is prepared once.
class Pipeline {
 public:
  /// `name` of the database is for messages.
  Pipeline(pg_conn* connection, std::string name)
      : connection_(connection), name_(std::move(name)) {}

  /// To be called for a new connection, which has no prepared statements.
  void begin_session();
  /// Sends statements. Their results are skipped when others are waited for.
  void send(std::span<const Statement> statements);
  /// Sends statements and waits for their results.
  Results run(std::span<const Statement> statements);

 private:
  /// One of several commands that were sent: PREPARE of a text, or a statement.
  struct Sent {
    bool prepares = false;
    std::string sql, name;
  };

  void send_statement(const Statement& statement);
  std::string prepared(const std::string& sql);
  Results collect();
  std::string as_text(const storage::Value& value) const;

  pg_conn* connection_;
  std::string name_;
  std::unordered_map<std::string, std::string> prepared_;  ///< names by SQL text
  std::vector<Sent> sent_;                                 ///< commands without results so far
  bool is_unread_ = false;                                 ///< results wait to be skipped
  std::int64_t names_ = 0;                                 ///< given so far
};

/// The rows of a result.
storage::Rows rows_of(const pg_result* result);

}  // namespace mase::postgresql
