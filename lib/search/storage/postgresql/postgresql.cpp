// SPDX-License-Identifier: Apache-2.0
// Implements Database with libpq for PostgreSQL. A connection that was lost, or could not be made,
// is opened again. If a commit was lost with it, the server is asked for the outcome of the
// transaction. A transaction costs a round trip for each result that it waits for, and one for its
// commit if it writes.
#include <libpq-fe.h>

#include <array>
#include <cctype>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "search/storage/postgresql/pipeline.hpp"

namespace mase::postgresql {
namespace {

using storage::Access;
using storage::Away;
using storage::Busy;
using storage::Database;
using storage::Dialect;
using storage::is_null;
using storage::Row;
using storage::Rows;
using storage::Unmet;
using storage::Value;

const Dialect postgresql_dialect{
    .serial = "SERIAL NOT NULL",
    .time = "TIMESTAMP WITHOUT TIME ZONE",
    .real = "FLOAT(53)",
    .direction = "studydirection",
    .state = "trialstate",
    .value_type = "trialvaluetype",
    .intermediate_type = "trialintermediatevaluetype",
    .before_tables =
        {"CREATE TYPE studydirection AS ENUM ('NOT_SET', 'MINIMIZE', 'MAXIMIZE')",
         "CREATE TYPE trialstate AS ENUM ('RUNNING', 'COMPLETE', 'PRUNED', 'FAIL', 'WAITING')",
         "CREATE TYPE trialvaluetype AS ENUM ('FINITE', 'INF_POS', 'INF_NEG')",
         "CREATE TYPE trialintermediatevaluetype AS ENUM ('FINITE', 'INF_POS', 'INF_NEG', 'NAN')"},
    .tables = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()",
    .strange = "",
    .for_update = " FOR UPDATE",
    .skip_locked = " FOR UPDATE SKIP LOCKED",
    // In the session's time zone, as Optuna writes it.
    .now = "CAST(clock_timestamp() AS TIMESTAMP)",
    .age = "EXTRACT(EPOCH FROM CAST(clock_timestamp() AS TIMESTAMP) - heartbeat)",
};

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using Options = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

/// The part of a URL between "://" and the path.
std::string_view authority_of(std::string_view url) {
  const std::string_view rest = url.substr(url.find("://") + 3);
  return rest.substr(0, rest.find_first_of("/?"));
}

/// Refuses an ambiguous password, because libpq would quote parts of it in its messages.
void refuse_ambiguous(std::string_view authority) {
  const auto is_hex = [&](std::size_t i) {
    return i < authority.size() && std::isxdigit(static_cast<unsigned char>(authority[i])) != 0;
  };
  std::size_t bad = authority.find('@') == authority.rfind('@') ? 0 : 1;
  for (std::size_t i = 0; i < authority.size(); ++i)
    if (authority[i] == '%' && !(is_hex(i + 1) && is_hex(i + 2))) ++bad;
  if (bad > 0)
    file_error(
        "the database's URL holds '@' or '%' within a name or the password; write %40 or %25");
}

/// The parts of a connection URL. The password is never shown.
struct Address {
  std::string shown, server, password;
};

Address address_of(const std::string& url) {
  refuse_ambiguous(authority_of(url));
  char* reason = nullptr;
  const Options options(PQconninfoParse(url.c_str(), &reason), &PQconninfoFree);
  PQfreemem(reason);  // it may quote the password
  if (!options)
    file_error("cannot read the database's URL; write postgresql://USER:PASSWORD@HOST:PORT/NAME");
  const auto option = [&](std::string_view keyword) {
    for (const PQconninfoOption* o = options.get(); o->keyword != nullptr; ++o)
      if (o->keyword == keyword && o->val != nullptr) return std::string(o->val);
    return std::string();
  };
  const std::string user = option("user"), host = option("host"), port = option("port");
  Address address;
  address.server = (host.empty() ? "localhost" : host) + (port.empty() ? "" : ":" + port);
  address.shown =
      "postgresql://" + (user.empty() ? "" : user + "@") + address.server + "/" + option("dbname");
  address.password = option("password");
  return address;
}

/// Connects. Adds options that the URL does not have: the name of the program, and the time after
/// which a server that does not answer counts as gone.
PGconn* connect(const std::string& url) {
  const std::array<const char*, 5> keywords{"application_name", "connect_timeout",
                                            "tcp_user_timeout", "dbname", nullptr};
  const std::array<const char*, 5> values{"mase", "10", "60000", url.c_str(), nullptr};
  constexpr int dbname_is_url = 1;
  return PQconnectdbParams(keywords.data(), values.data(), dbname_is_url);
}

class Postgresql final : public Database {
 public:
  Postgresql(const std::string& url, Address address, std::chrono::milliseconds patience)
      : Database(address.shown, patience),
        address_(std::move(address)),
        connection_(connect(url), &PQfinish),
        pipeline_(connection_.get(), name()) {
    if (is_connected() || connects_again()) prepare_session();
  }

  const Dialect& dialect() const override { return postgresql_dialect; }

  Rows query(const std::string& sql, const Row& parameters) override {
    Rows rows;
    later(sql, parameters, [&](const Rows& found) { rows = found; });
    wait();
    return rows;
  }

  std::int64_t execute(const std::string& sql, const Row& parameters) override {
    std::int64_t changed = 0;
    queue_.push_back({sql, parameters, {}, &changed});
    wait();
    return changed;
  }

  void later(const std::string& sql, const Row& parameters, const Take& take) override {
    queue_.push_back({sql, parameters, take});
  }

  /// A division by zero ends a transaction, and with it what was sent after it.
  void require(const std::string& sql, const Row& parameters) override {
    later("SELECT 1 / COUNT(*) FROM (" + sql + ") AS required", parameters, {});
  }

  /// Also asks for the number of a transaction, which must be known before COMMIT.
  void wait() override {
    if (in_transaction_ && access_ == Access::write && is_null(transaction_))
      later("SELECT txid_current_if_assigned()", {},
            [this](const Rows& rows) { transaction_ = rows.at(0)[0]; });
    round_trip();
  }

 private:
  void begin(Access access) override {
    in_transaction_ = is_beginning_ = true;
    access_ = access;
    transaction_ = {};
    queue_.clear();
    later(access == Access::read ? "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
                                 : "BEGIN",
          {}, {});
  }
  void commit() override {
    const bool is_empty = queue_.size() == (is_beginning_ ? 1 : 0);
    if (!is_empty && access_ != Access::repeatable && is_null(transaction_)) wait();
    if (!is_beginning_ || !is_empty) end_transaction();
    queue_.clear();
    in_transaction_ = false;
  }
  /// Nobody waits for the end of a transaction that only reads.
  void end_transaction() {
    later("COMMIT", {}, {});
    if (access_ == Access::read)
      pipeline_.send(queue_);
    else
      round_trip();
  }
  void rollback() noexcept override {
    in_transaction_ = false;
    queue_.clear();
    if (PQtransactionStatus(connection_.get()) != PQTRANS_IDLE)
      pipeline_.run(std::vector<Statement>{{"ROLLBACK", {}, {}}});
  }

  /// Sends what waits to be sent. A connection that was lost before a transaction is made again.
  void round_trip() {
    const std::vector<Statement> statements = std::exchange(queue_, {});
    Results results = pipeline_.run(statements);
    if (is_beginning_ && !is_connected()) {
      reconnect();
      results = pipeline_.run(statements);
    }
    is_beginning_ = false;
    if (results.failure || !results.is_complete) fail(results.failure.get());
    for (std::size_t i = 0; i < statements.size(); ++i) {
      PGresult* result = results.good.at(i).get();
      if (statements[i].take) statements[i].take(rows_of(result));
      if (statements[i].changed)
        *statements[i].changed = parse_int(PQcmdTuples(result)).value_or(0);
    }
  }

  /// A transaction without a number has written nothing, so it can simply be run again.
  bool was_committed() override {
    if (is_null(transaction_)) return false;
    in_transaction_ = true;
    if (!is_connected()) reconnect();
    const Value state = query("SELECT txid_status($1)", {transaction_}).at(0)[0];
    in_transaction_ = false;
    if (state == Value("in progress")) throw Away("the server still ends a lost transaction");
    return state == Value("committed");
  }

  void reconnect() {
    PQreset(connection_.get());
    if (!is_connected() && !was_there_ && !connects_again()) throw Away(not_there());
    if (!is_connected()) throw Away(gone());
    prepare_session();
  }

  bool is_connected() const { return PQstatus(connection_.get()) == CONNECTION_OK; }

  /// To be called after the first connection has failed. Error(Fault::file) if the server answers
  /// that user, password or name are wrong, because waiting would not help. Otherwise the server
  /// may just be away, and the first transaction waits for it. The text of the answer depends on
  /// its language, so a second attempt asks for codes. Returns true if that attempt connects.
  bool connects_again() {
    const std::string words = last_words();
    bool refused = PQconnectionNeedsPassword(connection_.get()) != 0;
    const PGVerbosity verbosity = PQsetErrorVerbosity(connection_.get(), PQERRORS_SQLSTATE);
    PQreset(connection_.get());
    PQsetErrorVerbosity(connection_.get(), verbosity);
    if (is_connected()) return true;
    const std::string codes = last_words();
    const std::string code = codes.substr(codes.find_last_of(' ') + 1);
    // Invalid authorization, no such database, no right to connect to it.
    for (const std::string_view wrong : {"28", "3D", "42"})
      refused = refused || (code.size() == 5 && code.starts_with(wrong));
    if (refused)
      file_error(name() + ": no connection (" + words + "); are user, password and name right?");
    return false;
  }

  void prepare_session() {
    was_there_ = true;
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    if (PQsetClientEncoding(connection_.get(), "UTF8") != 0) fail(nullptr);
    command("SET datestyle TO ISO");
    command("SET lock_timeout TO " + std::to_string(patience().count()));
    pipeline_.begin_session();
  }

  void command(const std::string& sql) {
    const Result result(PQexec(connection_.get(), sql.c_str()));
    if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) fail(result.get());
  }

  std::string without_password(std::string words) const {
    if (!address_.password.empty()) words = replace_all(words, address_.password, "***");
    return std::string(trim(words));
  }

  std::string last_words() const { return without_password(PQerrorMessage(connection_.get())); }
  std::string not_there() const {
    return "no connection to the server at " + address_.server + " (" + last_words() +
           "; is it running, and are host and port right?)";
  }
  std::string gone() const {
    return "the server at " + address_.server + " is gone (" + last_words() + ")";
  }

  [[noreturn]] void fail(const PGresult* result) {
    const std::string words =
        result == nullptr ? last_words() : without_password(PQresultErrorMessage(result));
    const char* field = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string_view state = field == nullptr ? "" : field;
    if (state == "22012") throw Unmet();  // division by zero
    // Serialization failure, deadlock, lock not available; and conflicts between two processes that
    // create the tables: unique violation, duplicate table, duplicate type.
    for (const std::string_view busy : {"40001", "40P01", "55P03", "23505", "42P07", "42710"})
      if (state == busy) throw Busy(words);
    if (!is_connected()) {
      if (in_transaction_) throw Away(gone());
      file_error(name() + ": " + gone() +
                 "; run the same command again when it is back, nothing that was finished is lost");
    }
    if (state == "25006" || state == "42501")
      file_error(name() + ": this database may not be written (" + words +
                 "); ask for the rights, or use another user");
    file_error(name() + ": " + words);
  }

  Address address_;
  Connection connection_;
  Pipeline pipeline_;
  std::vector<Statement> queue_;  ///< what the next round trip sends
  bool was_there_ = false;        ///< a connection was made
  bool in_transaction_ = false;
  bool is_beginning_ = false;  ///< BEGIN has not been sent
  Access access_ = Access::read;
  Value transaction_;  ///< the server's number of the one that is being committed; null without
};

}  // namespace

}  // namespace mase::postgresql

extern "C" mase::storage::Database* mase_open_postgresql(const std::string& url,
                                                         std::chrono::milliseconds patience) {
  namespace postgresql = mase::postgresql;
  return new postgresql::Postgresql(url, postgresql::address_of(url), patience);
}
