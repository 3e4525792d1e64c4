// SPDX-License-Identifier: Apache-2.0
// libpq's pipeline mode: the results of statements come in order, and after one that failed the
// server skips the others up to the end of the pipeline.
#include "search/storage/postgresql/pipeline.hpp"

#include <libpq-fe.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::postgresql {
namespace {

using storage::is_null;
using storage::Rows;
using storage::Value;

Value cell(const PGresult* result, int row, int column) {
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

}  // namespace

void ClearResult::operator()(pg_result* result) const { PQclear(result); }

Rows rows_of(const PGresult* result) {
  Rows rows(static_cast<std::size_t>(PQntuples(result)));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (int column = 0; column < PQnfields(result); ++column)
      rows[i].push_back(cell(result, static_cast<int>(i), column));
  return rows;
}

void Pipeline::begin_session() {
  prepared_.clear();
  sent_.clear();
  is_unread_ = false;
  PQenterPipelineMode(connection_);
}

void Pipeline::send(std::span<const Statement> statements) {
  if (is_unread_) collect();
  for (const Statement& statement : statements) send_statement(statement);
  PQpipelineSync(connection_);
  is_unread_ = true;
}

Results Pipeline::run(std::span<const Statement> statements) {
  send(statements);
  return collect();
}

/// What cannot be sent is missing among the results.
void Pipeline::send_statement(const Statement& statement) {
  std::vector<std::string> texts;
  std::vector<const char*> pointers;
  for (const Value& value : statement.parameters) texts.push_back(as_text(value));
  for (std::size_t i = 0; i < texts.size(); ++i)
    pointers.push_back(is_null(statement.parameters[i]) ? nullptr : texts[i].c_str());
  const int count = static_cast<int>(pointers.size());
  if (count == 0)  // BEGIN and the like
    PQsendQueryParams(connection_, statement.sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0);
  else
    PQsendQueryPrepared(connection_, prepared(statement.sql).c_str(), count, pointers.data(),
                        nullptr, nullptr, 0);
  sent_.push_back({});
}

/// The name of the prepared statement, which is only known for good when the server has answered.
std::string Pipeline::prepared(const std::string& sql) {
  if (const auto found = prepared_.find(sql); found != prepared_.end()) return found->second;
  const auto same = std::ranges::find_if(
      sent_, [&](const Sent& sent) { return sent.prepares && sent.sql == sql; });
  if (same != sent_.end()) return same->name;
  sent_.push_back({true, sql, "s" + std::to_string(names_++)});
  PQsendPrepare(connection_, sent_.back().name.c_str(), sql.c_str(), 0, nullptr);
  return sent_.back().name;
}

Results Pipeline::collect() {
  Results results;
  std::size_t next = 0;
  int ends = 0;  // of commands, in a row; there is no second one before the end of the pipeline
  while (PQstatus(connection_) == CONNECTION_OK && ends < 2) {
    Result result(PQgetResult(connection_));
    ends = result ? 0 : ends + 1;
    if (!result) continue;
    const ExecStatusType status = PQresultStatus(result.get());
    results.is_complete = status == PGRES_PIPELINE_SYNC;
    if (results.is_complete) break;
    if (status == PGRES_PIPELINE_ABORTED || results.failure) continue;
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
      results.failure = std::move(result);
      continue;
    }
    const Sent& sent = sent_.at(next++);
    if (sent.prepares)
      prepared_.emplace(sent.sql, sent.name);
    else
      results.good.push_back(std::move(result));
  }
  sent_.clear();
  is_unread_ = false;
  return results;
}

std::string Pipeline::as_text(const Value& value) const {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value)) return double_text(*number);
  if (is_null(value)) return {};
  const auto& words = std::get<std::string>(value);
  if (words.find('\0') != std::string::npos)
    file_error(name_ + ": PostgreSQL stores no text with a zero byte; change the name or value");
  return words;
}

}  // namespace mase::postgresql
