// SPDX-License-Identifier: Apache-2.0
// Implements Database with libpq for PostgreSQL. A connection that was lost, or could not be made,
// is opened again. If a commit was lost with it, the server is asked for the outcome of the
// transaction.
#include <libpq-fe.h>

#include <array>
#include <cctype>
#include <unordered_map>

#include "base/error.hpp"
#include "base/text.hpp"
#include "search/storage/database.hpp"

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
using Result = std::unique_ptr<PGresult, decltype(&PQclear)>;
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
        connection_(connect(url), &PQfinish) {
    if (is_connected() || connects_again()) prepare_session();
  }

  const Dialect& dialect() const override { return postgresql_dialect; }

  Rows query(const std::string& sql, const Row& parameters) override {
    const Result result = run(sql, parameters);
    Rows rows(static_cast<std::size_t>(PQntuples(result.get())));
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (int column = 0; column < PQnfields(result.get()); ++column)
        rows[i].push_back(cell(result.get(), static_cast<int>(i), column));
    return rows;
  }

  std::int64_t execute(const std::string& sql, const Row& parameters) override {
    return parse_int(PQcmdTuples(run(sql, parameters).get())).value_or(0);
  }

 private:
  void begin(Access access) override {
    in_transaction_ = true;
    writes_ = access == Access::write;
    transaction_ = {};
    const char* sql = access == Access::write
                          ? "BEGIN"
                          : "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";
    const Result result(PQexec(connection_.get(), sql), &PQclear);
    if (PQresultStatus(result.get()) == PGRES_COMMAND_OK) return;
    if (is_connected()) fail(result.get());
    reconnect();
    command(sql);
  }
  void commit() override {
    if (writes_) transaction_ = query("SELECT txid_current_if_assigned()", {}).at(0)[0];
    command("COMMIT");
    in_transaction_ = false;
  }
  void rollback() noexcept override {
    in_transaction_ = false;
    if (PQtransactionStatus(connection_.get()) != PQTRANS_IDLE)
      PQclear(PQexec(connection_.get(), "ROLLBACK"));
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
    prepared_.clear();
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    if (PQsetClientEncoding(connection_.get(), "UTF8") != 0) fail(nullptr);
    command("SET datestyle TO ISO");
    command("SET lock_timeout TO " + std::to_string(patience().count()));
  }

  void command(const std::string& sql) {
    const Result result(PQexec(connection_.get(), sql.c_str()), &PQclear);
    if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) fail(result.get());
  }

  Result run(const std::string& sql, const Row& parameters) {
    const std::string& statement = prepared(sql);
    std::vector<std::string> texts;
    std::vector<const char*> pointers;
    for (const Value& value : parameters) texts.push_back(as_text(value));
    for (std::size_t i = 0; i < texts.size(); ++i)
      pointers.push_back(is_null(parameters[i]) ? nullptr : texts[i].c_str());
    Result result(
        PQexecPrepared(connection_.get(), statement.c_str(), static_cast<int>(pointers.size()),
                       pointers.data(), nullptr, nullptr, 0),
        &PQclear);
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) fail(result.get());
    return result;
  }

  const std::string& prepared(const std::string& sql) {
    const auto found = prepared_.find(sql);
    if (found != prepared_.end()) return found->second;
    const std::string name = "s" + std::to_string(prepared_.size());
    const Result result(PQprepare(connection_.get(), name.c_str(), sql.c_str(), 0, nullptr),
                        &PQclear);
    if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) fail(result.get());
    return prepared_.emplace(sql, name).first->second;
  }

  std::string as_text(const Value& value) const {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
    if (const auto* number = std::get_if<double>(&value)) return double_text(*number);
    if (is_null(value)) return {};
    const auto& words = std::get<std::string>(value);
    if (words.find('\0') != std::string::npos)
      file_error(name() + ": PostgreSQL stores no text with a zero byte; change the name or value");
    return words;
  }

  static Value cell(const PGresult* result, int row, int column) {
    if (PQgetisnull(result, row, column) != 0) return {};
    const std::string text(PQgetvalue(result, row, column),
                           static_cast<std::size_t>(PQgetlength(result, row, column)));
    constexpr Oid int8 = 20, int4 = 23, float8 = 701;  // fixed numbers of the system catalogue
    const Oid type = PQftype(result, column);
    if (type == int8 || type == int4)
      if (const auto whole = parse_int(text)) return *whole;
    if (type == float8)
      if (const auto number = parse_double(text)) return *number;
    return text;
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
    const std::string words = last_words();
    const char* field = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string_view state = field == nullptr ? "" : field;
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
  std::unordered_map<std::string, std::string> prepared_;  ///< names by SQL text
  bool was_there_ = false;                                 ///< a connection was made
  bool in_transaction_ = false, writes_ = false;
  Value transaction_;  ///< the server's number of the one that is being committed; null without
};

}  // namespace

}  // namespace mase::postgresql

extern "C" mase::storage::Database* mase_open_postgresql(const std::string& url,
                                                         std::chrono::milliseconds patience) {
  namespace postgresql = mase::postgresql;
  return new postgresql::Postgresql(url, postgresql::address_of(url), patience);
}
