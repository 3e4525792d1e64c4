// SPDX-License-Identifier: Apache-2.0
// Database: the little that the storage asks of SQL, the same for SQLite and PostgreSQL: statements
// with bound parameters, and transactions that are tried again while somebody else is in the way.
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

/// Another connection is in the way: the transaction must be undone and may be tried again.
struct Busy : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The database cannot be reached; the transaction may be tried again when it is back.
struct Away : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Access { read, write };
/// Whether a database is made where there is none, or only looked at.
enum class Opening { create, view };

/// What the databases write differently. Types stand in CREATE TABLE, the others in queries.
struct Dialect {
  std::string_view serial, time, real, direction, state, value_type, intermediate_type;
  std::vector<std::string_view> before_tables;  ///< statements that come before CREATE TABLE
  std::string_view tables;                      ///< query: the names of all tables in reach
  /// Query: one of {tables}, a list of names, that is no plain table but a view, a virtual table or
  /// one with computed columns. Empty where only the owner of the database can make such.
  std::string_view strange;
  std::string_view for_update;   ///< after SELECT: locks the row
  std::string_view skip_locked;  ///< after SELECT: locks the row, or passes over a locked one
  std::string_view now;          ///< the database's clock as trial_heartbeats.heartbeat stores it
  std::string_view age;          ///< seconds since that column's time
};

/// A connection to a database. Error(Fault::file) with its own message when a statement fails.
class Database {
 public:
  /// `name` stands in messages and holds no password. `patience`: how long a transaction waits for
  /// other writers, and for a database that has gone away to come back.
  Database(std::string name, std::chrono::milliseconds patience)
      : name_(std::move(name)), patience_(patience) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  virtual ~Database() = default;

  /// Runs one statement with the parameters $1, $2, ... Error(Fault::file) with the database's own
  /// words, or Busy.
  virtual Rows query(const std::string& sql, const Row& parameters = {}) = 0;
  /// As query; the number of rows that changed.
  virtual std::int64_t execute(const std::string& sql, const Row& parameters = {}) = 0;
  virtual const Dialect& dialect() const = 0;

  /// Runs `work` inside one transaction; after Busy or Away everything is undone and `work` runs
  /// again, until the patience is over (Error(Fault::file)). It takes effect exactly once.
  void transact(Access access, const std::function<void()>& work);

  const std::string& name() const { return name_; }
  std::chrono::milliseconds patience() const { return patience_; }

 private:
  virtual void begin(Access access) = 0;
  virtual void commit() = 0;
  virtual void rollback() noexcept = 0;
  /// Whether the last commit, which ended in Away, has taken effect all the same.
  virtual bool was_committed() { return false; }

  std::string name_;
  std::chrono::milliseconds patience_;
};

/// `into` is "table (a, b)", `rows` its values, `after` what follows them ("ON CONFLICT ...").
void insert_rows(Database& database, std::string_view into, const std::vector<Row>& rows,
                 std::string_view after = "");

/// A cell as what it must be; Error(Fault::file) naming `where` when it is something else.
std::int64_t integer(const Value& value, const std::string& where);
double real(const Value& value, const std::string& where);
const std::string& text(const Value& value, const std::string& where);
inline bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }

std::unique_ptr<Database> open_sqlite(const std::string& path, std::chrono::milliseconds patience,
                                      Opening opening = Opening::create);
/// `url` as libpq reads it.
std::unique_ptr<Database> open_postgresql(const std::string& url,
                                          std::chrono::milliseconds patience);

}  // namespace mase::storage
