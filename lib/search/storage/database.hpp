// SPDX-License-Identifier: Apache-2.0
// Database is the interface of the storage to SQLite and PostgreSQL: statements with bound
// parameters, and transactions that are retried while another connection blocks them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mase::storage {

using Value = std::variant<std::monostate, std::int64_t, double, std::string>;
using Row = std::vector<Value>;
using Rows = std::vector<Row>;

/// Another connection blocks the transaction, which must be rolled back and may be retried.
struct Busy : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The database cannot be reached. The transaction may be retried when it is back.
struct Away : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A query that `require` was given has no rows.
struct Unmet {};

/// A repeatable transaction writes, too, but may take effect twice if the answer to its commit is
/// lost. It needs one round trip less.
enum class Access { read, write, repeatable };
/// Whether to create a missing database, or only to read an existing one.
enum class Opening { create, view };

/// The differences between the SQL of the databases: types for CREATE TABLE, and parts of queries.
struct Dialect {
  std::string_view serial, time, real, direction, state, value_type, intermediate_type;
  std::vector<std::string_view> before_tables;  ///< statements that come before CREATE TABLE
  std::string_view tables;                      ///< query: the names of all tables in reach
  /// Query: finds one of {tables}, a list of names, that is a view, a virtual table or a table with
  /// computed columns. Empty if only the owner of the database can create these.
  std::string_view strange;
  std::string_view for_update;   ///< after SELECT: locks the row
  std::string_view skip_locked;  ///< after SELECT: locks the row, or skips a locked one
  std::string_view now;          ///< the database's clock as trial_heartbeats.heartbeat stores it
  std::string_view age;          ///< seconds since that column's time
};

/// A connection to a database. A failing statement gives an Error(Fault::file) with its message.
class Database {
 public:
  /// `name` is for messages and has no password. `patience` is how long a transaction waits for
  /// other writers, and for an unreachable database to come back.
  Database(std::string name, std::chrono::milliseconds patience)
      : name_(std::move(name)), patience_(patience) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  virtual ~Database() = default;

  /// Runs one statement with the parameters $1, $2, ... Throws Busy, or an Error(Fault::file) with
  /// the database's message.
  virtual Rows query(const std::string& sql, const Row& parameters = {}) = 0;
  /// The same, but returns the number of rows that changed.
  virtual std::int64_t execute(const std::string& sql, const Row& parameters = {}) = 0;
  /// Called with the rows of a statement.
  using Take = std::function<void(const Rows& rows)>;
  /// Runs a statement whose result the next ones do not need. A database at a distance sends it
  /// with the next one that is waited for, or with the commit: one round trip for all of them.
  /// What `take` refers to must live until then. It is not called for a commit whose answer was
  /// lost.
  virtual void later(const std::string& sql, const Row& parameters = {}, const Take& take = {}) {
    const Rows rows = query(sql, parameters);
    if (take) take(rows);
  }
  /// The transaction takes effect only if this query has rows. It may be found out later.
  virtual void require(const std::string& sql, const Row& parameters) {
    if (query(sql, parameters).empty()) throw Unmet();
  }
  /// Waits for the statements that `later` was given.
  virtual void wait() {}
  virtual const Dialect& dialect() const = 0;

  /// Runs `work` in one transaction. After Busy or Away everything is rolled back and `work` runs
  /// again, until the patience is over (Error(Fault::file)). It takes effect exactly once, or
  /// not at all and returns false if what it requires is not so.
  bool transact(Access access, const std::function<void()>& work);

  const std::string& name() const { return name_; }
  std::chrono::milliseconds patience() const { return patience_; }

 private:
  virtual void begin(Access access) = 0;
  virtual void commit() = 0;
  virtual void rollback() noexcept = 0;
  /// Whether the last commit has taken effect although it ended in Away.
  virtual bool was_committed() { return false; }

  std::string name_;
  std::chrono::milliseconds patience_;
};

/// Inserts rows, later. `into` is "table (a, b)", and `after` follows the values ("ON CONFLICT
/// ..."). The first column of all rows is `first`, an expression of SQL, if there is one.
void insert_rows(Database& database, std::string_view into, const std::vector<Row>& rows,
                 std::string_view after = "", std::string_view first = "");

/// Converts a cell to the required type. Error(Fault::file) that names `where` for another type.
std::int64_t integer(const Value& value, const std::string& where);
double real(const Value& value, const std::string& where);
const std::string& text(const Value& value, const std::string& where);
inline bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }

std::unique_ptr<Database> open_sqlite(const std::string& path, std::chrono::milliseconds patience,
                                      Opening opening = Opening::create);
/// Opens PostgreSQL. `url` has the form that libpq reads.
std::unique_ptr<Database> open_postgresql(const std::string& url,
                                          std::chrono::milliseconds patience);

}  // namespace mase::storage
