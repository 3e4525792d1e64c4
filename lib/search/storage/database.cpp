// SPDX-License-Identifier: Apache-2.0
// Transactions with retries, inserts of many rows, and cells with checked types.
#include "search/storage/database.hpp"

#include <algorithm>
#include <thread>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace mase::storage {
namespace {

using Clock = std::chrono::steady_clock;

std::string seconds_of(const Database& database) {
  return fixed_text(static_cast<double>(database.patience().count()) / 1e3, 1);
}

[[noreturn]] void give_up(const Database& database, const Busy& busy) {
  file_error(database.name() + ": locked by another program for " + seconds_of(database) + " s (" +
             busy.what() + "); stop that program, or try again");
}

[[noreturn]] void give_up(const Database& database, const Away& away) {
  file_error(database.name() + ": " + away.what() + ", for " + seconds_of(database) +
             " s (storage_timeout); run the same command again when it is back; no completed trial "
             "is lost");
}

/// The pause before a retry. It doubles from 1 ms up to 64 ms while the database is busy, or up to
/// 1 s while it is away. The clocks of colliding threads spread them apart.
std::chrono::microseconds pause_after(int attempt, bool away) {
  const auto spread = Clock::now().time_since_epoch().count() % 1000;
  return std::chrono::microseconds((1000 + spread) << std::min(attempt, away ? 10 : 6));
}

std::string values(std::string_view first, std::size_t number, std::size_t count) {
  std::vector<std::string> values;
  if (!first.empty()) values.emplace_back(first);
  for (std::size_t i = 0; i < count; ++i) values.push_back("$" + std::to_string(number + i));
  return "(" + join(values, ", ") + ")";
}

[[noreturn]] void wrong_kind(const std::string& where, std::string_view wanted) {
  file_error(where + ": the database holds no " + std::string(wanted) +
             " there; neither Optuna nor mase wrote this row");
}

}  // namespace

bool Database::transact(Access access, const std::function<void()>& work) {
  const auto deadline = Clock::now() + patience_;
  bool committing = false, away = false;
  for (int attempt = 0;; ++attempt) {
    try {
      if (committing && was_committed()) return true;
      committing = false;
      begin(access);
      work();
      committing = true;
      commit();
      return true;
    } catch (const Unmet&) {
      rollback();
      return false;
    } catch (const Busy& busy) {
      rollback();
      if (Clock::now() >= deadline) give_up(*this, busy);
    } catch (const Away& gone) {
      rollback();
      if (Clock::now() >= deadline) give_up(*this, gone);
      if (!away) log::warning(name_ + ": " + gone.what() + "; waiting for it");
      away = true;
    } catch (...) {
      rollback();
      throw;
    }
    stop_if_asked();
    std::this_thread::sleep_for(pause_after(attempt, away));
  }
}

void insert_rows(Database& database, std::string_view into, const std::vector<Row>& rows,
                 std::string_view after, std::string_view first) {
  // Only a few different lengths, so that few statements need to be prepared.
  constexpr std::size_t chunk = 64;
  for (std::size_t begin = 0; begin < rows.size(); begin += chunk) {
    const std::size_t end = std::min(begin + chunk, rows.size());
    std::string sql = "INSERT INTO " + std::string(into) + " VALUES ";
    Row parameters;
    for (std::size_t i = begin; i < end; ++i) {
      if (i != begin) sql += ", ";
      sql += values(first, parameters.size() + 1, rows[i].size());
      parameters.insert(parameters.end(), rows[i].begin(), rows[i].end());
    }
    database.later(sql + " " + std::string(after), parameters);
  }
}

std::int64_t integer(const Value& value, const std::string& where) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  wrong_kind(where, "integer");
}

double real(const Value& value, const std::string& where) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
  wrong_kind(where, "number");
}

const std::string& text(const Value& value, const std::string& where) {
  if (const auto* words = std::get_if<std::string>(&value)) return *words;
  wrong_kind(where, "text");
}

}  // namespace mase::storage
