// SPDX-License-Identifier: Apache-2.0
// Implements Database for SQLite. While mase works on a file, the file is in WAL mode, where
// readers and the writer do not wait for each other. The last process that closes it leaves one
// plain file. Commits are not flushed to disk: a killed process loses nothing; a power cut may
// lose the last trials, but never damages the database. A file may be untrusted: nothing in its
// schema except tables is used, and the size of texts and the work of a transaction are
// limited.
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <unordered_map>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "search/storage/database.hpp"

namespace mase::storage {
namespace {

const Dialect sqlite_dialect{
    .serial = "INTEGER NOT NULL",
    .time = "DATETIME",
    .real = "FLOAT",
    .direction = "VARCHAR(8)",
    .state = "VARCHAR(8)",
    .value_type = "VARCHAR(7)",
    .intermediate_type = "VARCHAR(7)",
    .before_tables = {},
    .tables = "SELECT name FROM sqlite_master WHERE type = 'table'",
    // Views and virtual tables have no pages; hidden columns are computed.
    .strange =
        "SELECT s.name FROM sqlite_master s WHERE lower(s.name) IN ({tables}) AND "
        "s.type IN ('table', 'view') AND (s.rootpage = 0 OR s.type = 'table' AND EXISTS "
        "(SELECT 1 FROM pragma_table_xinfo(s.name) WHERE hidden <> 0)) LIMIT 1",
    .for_update = "",
    .skip_locked = "",
    // Six decimals, as SQLAlchemy writes times; SQLite's clock has three of them.
    .now = "(strftime('%Y-%m-%d %H:%M:%f', 'now') || '000')",
    .age = "((julianday('now') - julianday(heartbeat)) * 86400.0)",
};

using Handle = std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)>;
using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

class Sqlite final : public Database {
 public:
  Sqlite(const std::string& path, std::chrono::milliseconds patience, Opening opening)
      : Database(path, patience),
        handle_(nullptr, &sqlite3_close_v2),
        views_(opening == Opening::view) {
    if (views_ && !file_exists(path)) file_error(path + ": there is no such database");
    open(path);
    distrust();
    sqlite3_busy_handler(handle_.get(), &Sqlite::wait, this);
    if (views_) return;
    if (sqlite3_db_readonly(handle_.get(), "main") == 1) fail(SQLITE_READONLY);
    use_wal();
  }

  ~Sqlite() override {
    statements_.clear();
    // This is refused while another connection is open, which will then do it.
    sqlite3_busy_handler(handle_.get(), nullptr, nullptr);
    if (views_) return;
    sqlite3_exec(handle_.get(), "PRAGMA journal_mode = DELETE", nullptr, nullptr, nullptr);
  }

  const Dialect& dialect() const override { return sqlite_dialect; }

  Rows query(const std::string& sql, const Row& parameters) override {
    Rows rows;
    run(sql, parameters, &rows);
    return rows;
  }

  std::int64_t execute(const std::string& sql, const Row& parameters) override {
    run(sql, parameters, nullptr);
    return sqlite3_changes64(handle_.get());
  }

 private:
  /// SQLite calls this while another connection holds the lock. Transactions are short, so it
  /// retries much sooner than SQLite's own handler, which sleeps up to 0.1 s.
  static int wait(void* self, int calls) {
    auto& database = *static_cast<Sqlite*>(self);
    const auto now = std::chrono::steady_clock::now();
    if (calls == 0) database.waiting_since_ = now;
    if (now - database.waiting_since_ >= database.patience()) return 0;
    std::this_thread::sleep_for(std::chrono::microseconds(100 << std::min(calls / 4, 6)));
    return 1;
  }

  void begin(Access access) override {
    if (!views_) steps_ = bytes_ = 0;
    // A write takes its lock at once: a reader that becomes a writer can fail without waiting.
    execute(access == Access::read ? "BEGIN" : "BEGIN IMMEDIATE", {});
  }
  void commit() override { execute("COMMIT", {}); }
  void rollback() noexcept override {
    if (sqlite3_get_autocommit(handle_.get()) == 0)
      sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }

  void open(const std::string& path) {
    std::error_code error;
    const auto kind = std::filesystem::status(path, error).type();
    if (kind != std::filesystem::file_type::not_found &&
        kind != std::filesystem::file_type::regular &&
        kind != std::filesystem::file_type::directory)
      file_error(path + ": a database must be a regular file");
    sqlite3* handle = nullptr;
    const int flags = views_ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    const int code = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    handle_.reset(handle);
    if (code != SQLITE_OK) fail(code);
    sqlite3_extended_result_codes(handle_.get(), 1);
  }

  /// Follows sqlite.org's "Defense Against The Dark Arts". Views, triggers and virtual tables of
  /// the file are not used, functions in its expressions have no side effects, and a progress
  /// handler counts steps.
  void distrust() {
    for (const auto& [option, value] :
         {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1}, std::pair{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
          std::pair{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, std::pair{SQLITE_DBCONFIG_ENABLE_VIEW, 0}})
      sqlite3_db_config(handle_.get(), option, value, nullptr);
    sqlite3_limit(handle_.get(), SQLITE_LIMIT_LENGTH, most_text);
    sqlite3_progress_handler(handle_.get(), steps_between_counts, &Sqlite::count, this);
  }

  /// SQLite calls this regularly, and ends the statement if the result is not 0.
  static int count(void* self) {
    auto& database = *static_cast<Sqlite*>(self);
    database.steps_ += steps_between_counts;
    return database.steps_ > most_steps || stop_asked() ? 1 : 0;
  }

  void count_bytes(sqlite3_stmt* statement) {
    for (int i = 0; i < sqlite3_column_count(statement); ++i)
      bytes_ += sqlite3_column_bytes(statement, i);
    if (bytes_ > most_bytes)
      file_error(name() + ": its texts are longer than " + std::to_string(most_bytes >> 20) +
                 " MiB together; is it the database of a study?");
  }

  /// If WAL is not available (another connection is busy, or on a network file system), the file
  /// keeps its rollback journal. Everything works with it too, only slower.
  void use_wal() {
    try {
      query("PRAGMA journal_mode = WAL", {});
    } catch (const Busy&) {
    }
    query("PRAGMA synchronous = NORMAL", {});
  }

  void run(const std::string& sql, const Row& parameters, Rows* rows) {
    sqlite3_stmt* statement = prepared(sql);
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_reset)> reset(statement, &sqlite3_reset);
    bind(statement, parameters);
    int code = sqlite3_step(statement);
    for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
      if (rows == nullptr) continue;
      rows->push_back(read_row(statement));
      count_bytes(statement);
    }
    if (code != SQLITE_DONE) fail(code);
  }

  sqlite3_stmt* prepared(const std::string& sql) {
    if (const auto found = statements_.find(sql); found != statements_.end())
      return found->second.get();
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(handle_.get(), sql.c_str(), static_cast<int>(sql.size()),
                                        &statement, nullptr);
    if (code != SQLITE_OK) fail(code);
    statements_.emplace(sql, Statement(statement, &sqlite3_finalize));
    return statement;
  }

  /// SQLite treats $3 as a name and numbers parameters by first appearance, so names are looked up.
  void bind(sqlite3_stmt* statement, const Row& parameters) {
    const int count = sqlite3_bind_parameter_count(statement);
    for (int i = 1; i <= count; ++i) {
      const int number = std::stoi(sqlite3_bind_parameter_name(statement, i) + 1);
      const int code =
          bind_value(statement, i, parameters.at(static_cast<std::size_t>(number - 1)));
      if (code != SQLITE_OK) fail(code);
    }
  }

  static int bind_value(sqlite3_stmt* statement, int index, const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value))
      return sqlite3_bind_int64(statement, index, *whole);
    if (const auto* number = std::get_if<double>(&value))
      return sqlite3_bind_double(statement, index, *number);
    if (const auto* words = std::get_if<std::string>(&value))
      return sqlite3_bind_text64(statement, index, words->data(), words->size(), SQLITE_STATIC,
                                 SQLITE_UTF8);
    return sqlite3_bind_null(statement, index);
  }

  static Row read_row(sqlite3_stmt* statement) {
    Row row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) row.push_back(cell(statement, i));
    return row;
  }

  static Value cell(sqlite3_stmt* statement, int i) {
    switch (sqlite3_column_type(statement, i)) {
      case SQLITE_NULL:
        return {};
      case SQLITE_INTEGER:
        return std::int64_t{sqlite3_column_int64(statement, i)};
      case SQLITE_FLOAT:
        return sqlite3_column_double(statement, i);
      default: {
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, i));
        return std::string(bytes == nullptr ? "" : bytes,
                           static_cast<std::size_t>(sqlite3_column_bytes(statement, i)));
      }
    }
  }

  [[noreturn]] void fail(int code) {
    const std::string words = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
    switch (code & 0xff) {
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
        throw Busy(words);
      case SQLITE_NOTADB:
      case SQLITE_CORRUPT:
        file_error(name() + ": not an SQLite database, or a damaged one (" + words +
                   "); give the path of a study's file, or of a new one");
      case SQLITE_READONLY:
        file_error(name() + ": this database is read-only (" + words +
                   "); make the file and its folder writable, or search in a copy");
      case SQLITE_CANTOPEN:
        file_error(name() + ": cannot open this database (" + words +
                   "); its folder must exist and be writable");
      case SQLITE_INTERRUPT:
        stop_if_asked();
        file_error(name() + ": checking it takes too long (" + std::to_string(most_steps) +
                   " steps of SQLite); is it the database of a study, with the indices of one?");
      case SQLITE_TOOBIG:
        file_error(name() + ": one of its texts is longer than " + std::to_string(most_text >> 20) +
                   " MiB; is it the database of a study?");
      case SQLITE_FULL:
      case SQLITE_IOERR:
        file_error(name() + ": cannot write (" + words + "); is the disk full?");
      default:
        file_error(name() + ": " + words);
    }
  }

  /// Limits far above the needs of studies: 20,000 trials of 20 parameters take about 10 million
  /// steps and 50 MiB.
  static constexpr int steps_between_counts = 10000;
  static constexpr std::int64_t most_steps = 2'000'000'000;
  static constexpr int most_text = 64 << 20;
  static constexpr std::int64_t most_bytes = std::int64_t{2} << 30;

  Handle handle_;
  std::int64_t steps_ = 0, bytes_ = 0;  ///< of a transaction, or in total if read-only
  bool views_;                          ///< opened for reading only
  std::chrono::steady_clock::time_point waiting_since_;
  std::unordered_map<std::string, Statement> statements_;
};

}  // namespace

std::unique_ptr<Database> open_sqlite(const std::string& path, std::chrono::milliseconds patience,
                                      Opening opening) {
  return std::make_unique<Sqlite>(path, patience, opening);
}

}  // namespace mase::storage
