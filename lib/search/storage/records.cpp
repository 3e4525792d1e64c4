// SPDX-License-Identifier: Apache-2.0
// Reads trials with one query for the rows of `trials` and one for each related table, none of
// which needs the result of another.
#include "search/storage/records.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <limits>
#include <span>

#include "base/error.hpp"

namespace mase::storage {
namespace {

using samplers::TrialState;

bool is_finished(TrialState state) {
  return state != TrialState::running && state != TrialState::waiting;
}

/// Some trials, as a condition on trial_id.
struct Selection {
  std::string condition;
  Row parameters;
};

/// The last id is repeated so that the count is a power of two, and few different statements need
/// to be prepared.
Selection with_ids(std::span<const std::int64_t> ids) {
  Selection selection{"trial_id IN (", {}};
  const std::size_t count = std::bit_ceil(ids.size());
  for (std::size_t i = 0; i < count; ++i) {
    selection.condition += (i == 0 ? "$" : ", $") + std::to_string(i + 1);
    selection.parameters.emplace_back(ids[std::min(i, ids.size() - 1)]);
  }
  selection.condition += ")";
  return selection;
}

/// The rows of other tables that belong to some trials. `range` repeats what bounds trial_id.
Selection within(const Selection& trials, const std::string& range) {
  return {range + "trial_id IN (SELECT trial_id FROM trials WHERE " + trials.condition + ")",
          trials.parameters};
}

/// Calls `read` with the ids, in pieces small enough for one statement.
template <class F>
void in_chunks(std::span<const std::int64_t> ids, const F& read) {
  constexpr std::size_t chunk = 512;
  for (std::size_t begin = 0; begin < ids.size(); begin += chunk)
    read(ids.subspan(begin, std::min(chunk, ids.size() - begin)));
}

/// The record with this id, or nullptr.
Record* record_of(std::vector<Record>& records, const Value& id) {
  const std::int64_t wanted = integer(id, "trial_id");
  const auto found = std::ranges::lower_bound(records, wanted, {}, &Record::id);
  return found != records.end() && found->id == wanted ? &*found : nullptr;
}

/// Asks for what other tables have for some of the records. It must live until the database was
/// waited for.
class DetailReader {
 public:
  DetailReader(Database& database, Distributions& distributions, std::vector<Record>& records,
               Details details)
      : database_(database), distributions_(distributions), records_(records), details_(details) {}

  void ask(Selection selection) {
    selection_ = std::move(selection);
    each("SELECT trial_id, param_name, param_value, distribution_json FROM trial_params",
         "param_id", [this](Record& record, const Row& row) { add_parameter(record, row); });
    each("SELECT trial_id, value, value_type FROM trial_values", "objective",
         [this](Record& record, const Row& row) {
           const std::string where = place(record, "value");
           record.trial.values.push_back(number_from(row[1], text(row[2], where), where));
         });
    each(
        "SELECT trial_id, step, intermediate_value, intermediate_value_type "
        "FROM trial_intermediate_values",
        "step", [this](Record& record, const Row& row) { add_intermediate(record, row); });
    if (details_ == Details::all)
      each("SELECT trial_id, \"key\", value_json FROM trial_user_attributes",
           "trial_user_attribute_id",
           [this](Record& record, const Row& row) { add_attribute(record, record.user, row); });
    each("SELECT trial_id, \"key\", value_json FROM trial_system_attributes",
         "trial_system_attribute_id", [this](Record& record, const Row& row) {
           if (details_ == Details::all || !is_finished(record.trial.state) ||
               row[1] != Value(std::string(worker_attribute)))
             add_attribute(record, record.trial.attributes, row);
         });
  }

 private:
  template <class F>
  void each(const std::string& select, const std::string& order, const F& add) {
    database_.later(select + " WHERE " + selection_.condition + " ORDER BY " + order,
                    selection_.parameters, [this, add](const Rows& rows) {
                      for (const Row& row : rows)
                        if (Record* record = record_of(records_, row[0])) add(*record, row);
                    });
  }

  std::string place(const Record& record, const std::string& what) const {
    return database_.name() + ", trial " + std::to_string(record.trial.number) + ", " + what;
  }

  void add_parameter(Record& record, const Row& row) {
    const std::string& name = text(row[1], place(record, "a parameter's name"));
    const std::string where = place(record, "parameter '" + name + "'");
    record.trial.params[name] = real(row[2], where);
    record.distributions[name] = distributions_.read(text(row[3], where), where);
  }

  void add_intermediate(Record& record, const Row& row) {
    const std::string where = place(record, "intermediate value");
    record.trial.intermediate[integer(row[1], where)] =
        number_from(row[2], text(row[3], where), where);
  }

  void add_attribute(Record& record, Tree& attributes, const Row& row) {
    const std::string where = place(record, "attribute");
    attributes[text(row[1], where)] = attribute_from(text(row[2], where));
  }

  Database& database_;
  Distributions& distributions_;
  std::vector<Record>& records_;
  Details details_;
  Selection selection_;
};

std::optional<std::int64_t> optional_time(const Value& value, Zone zone, const std::string& where) {
  return is_null(value) ? std::nullopt : time_from(text(value, where), zone);
}

/// Reads an id or number of a trial. The limit leaves room for the next one.
std::int64_t natural(const Value& value, const std::string& where) {
  const std::int64_t number = integer(value, where);
  if (number < 0 || number > std::numeric_limits<std::int32_t>::max())
    file_error(where + ": " + std::to_string(number) + " is not the number of a trial");
  return number;
}

Record record_from(const Row& row, Zone zone, const std::string& where) {
  Record record;
  record.id = natural(row[0], where);
  record.trial.number = natural(row[1], where);
  record.trial.state = state_from(text(row[2], where), where);
  record.start = optional_time(row[3], zone, where);
  record.complete = optional_time(row[4], zone, where);
  return record;
}

}  // namespace

std::shared_ptr<const samplers::Distribution> Distributions::read(const std::string& text,
                                                                  const std::string& where) {
  const auto found = known_.find(text);
  if (found != known_.end()) return found->second;
  auto made = std::make_shared<const samplers::Distribution>(
      samplers::distribution_from(parse_json(text, where), where));
  return known_.emplace(text, std::move(made)).first->second;
}

void read_details(Database& database, Distributions& distributions, std::vector<Record>& records,
                  Details details) {
  std::vector<std::int64_t> ids;
  for (const Record& record : records) ids.push_back(record.id);
  std::deque<DetailReader> readers;
  in_chunks(ids, [&](std::span<const std::int64_t> some) {
    readers.emplace_back(database, distributions, records, details).ask(with_ids(some));
  });
  database.wait();
  for (Record& record : records) record.trial.violation = violation_of(record.trial.attributes);
}

void Records::update(Database& database, Distributions& distributions, std::int64_t study,
                     Zone zone, Details details) {
  std::deque<std::vector<Record>> read;
  std::deque<DetailReader> readers;
  const std::string where = database.name() + ", table trials";
  const auto ask = [&](const Selection& trials, Selection others) {
    std::vector<Record>& records = read.emplace_back();
    database.later(
        "SELECT trial_id, number, state, datetime_start, datetime_complete FROM trials WHERE " +
            trials.condition + " ORDER BY trial_id",
        trials.parameters, [&records, &where, zone](const Rows& rows) {
          for (const Row& row : rows) records.push_back(record_from(row, zone, where));
        });
    readers.emplace_back(database, distributions, records, details).ask(std::move(others));
  };
  in_chunks(open_in(TrialState::running),
            [&](std::span<const std::int64_t> ids) { ask(with_ids(ids), with_ids(ids)); });
  // A trial that still waits has not changed.
  in_chunks(open_in(TrialState::waiting), [&](std::span<const std::int64_t> ids) {
    Selection changed = with_ids(ids);
    changed.condition += " AND state <> 'WAITING'";
    ask(changed, within(changed, ""));
  });
  const Selection fresh{"study_id = $1 AND trial_id >= $2 AND number IS NOT NULL", {study, next_}};
  ask(fresh, within(fresh, "trial_id >= $2 AND "));
  database.wait();
  for (std::vector<Record>& records : read)
    for (Record& record : records) {
      record.trial.violation = violation_of(record.trial.attributes);
      put(std::move(record));
    }
}

std::vector<std::int64_t> Records::open_in(TrialState state) const {
  std::vector<std::int64_t> ids;
  for (const std::int64_t id : open_)
    if (records_[index_of(id)].trial.state == state) ids.push_back(id);
  return ids;
}

std::size_t Records::index_of(std::int64_t id) const {
  const auto found = std::ranges::lower_bound(records_, id, {}, &Record::id);
  return static_cast<std::size_t>(found - records_.begin());
}

void Records::put(Record record) {
  const std::int64_t id = record.id;
  const bool open = !is_finished(record.trial.state), known = id < next_;
  if (known)
    records_[index_of(id)] = std::move(record);
  else
    records_.push_back(std::move(record));
  next_ = std::max(next_, id + 1);
  if (open && !known)
    open_.push_back(id);
  else if (!open && known)
    std::erase(open_, id);
}

}  // namespace mase::storage
