// SPDX-License-Identifier: Apache-2.0
// Reading trials: one query for the rows of `trials`, and one for each table around it.
#include "search/storage/records.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"

namespace mase::storage {
namespace {

using samplers::TrialState;

bool is_finished(TrialState state) {
  return state != TrialState::running && state != TrialState::waiting;
}

/// "(id, id, ...)" as text: the ids come from the database. The count is a power of two, the last
/// id repeated, so that few different statements are prepared.
struct IdList {
  std::string placeholders;
  Row ids;
};

IdList id_list(const std::vector<Record>& records, std::size_t begin, std::size_t end) {
  IdList list;
  const std::size_t count = std::bit_ceil(end - begin);
  for (std::size_t i = 0; i < count; ++i) {
    list.placeholders += (i == 0 ? "($" : ", $") + std::to_string(i + 1);
    list.ids.emplace_back(records[std::min(begin + i, end - 1)].id);
  }
  list.placeholders += ")";
  return list;
}

Record& record_of(std::vector<Record>& records, const Value& id) {
  const auto found =
      std::lower_bound(records.begin(), records.end(), integer(id, "trial_id"),
                       [](const Record& record, std::int64_t value) { return record.id < value; });
  return *found;  // asked for these ids only
}

class DetailReader {
 public:
  DetailReader(Database& database, Distributions& distributions, std::vector<Record>& records)
      : database_(database), distributions_(distributions), records_(records) {}

  void read(std::size_t begin, std::size_t end) {
    list_ = id_list(records_, begin, end);
    each("SELECT trial_id, param_name, param_value, distribution_json FROM trial_params",
         "param_id", [&](Record& record, const Row& row) { add_parameter(record, row); });
    each("SELECT trial_id, value, value_type FROM trial_values", "objective",
         [&](Record& record, const Row& row) {
           const std::string where = place(record, "value");
           record.trial.values.push_back(number_from(row[1], text(row[2], where), where));
         });
    each(
        "SELECT trial_id, step, intermediate_value, intermediate_value_type "
        "FROM trial_intermediate_values",
        "step", [&](Record& record, const Row& row) { add_intermediate(record, row); });
    each("SELECT trial_id, \"key\", value_json FROM trial_user_attributes",
         "trial_user_attribute_id",
         [&](Record& record, const Row& row) { add_attribute(record, record.user, row); });
    each("SELECT trial_id, \"key\", value_json FROM trial_system_attributes",
         "trial_system_attribute_id", [&](Record& record, const Row& row) {
           add_attribute(record, record.trial.attributes, row);
         });
    for (std::size_t i = begin; i < end; ++i)
      records_[i].trial.violation = violation_of(records_[i].trial.attributes);
  }

 private:
  template <class F>
  void each(const std::string& select, const std::string& order, const F& add) {
    for (const Row& row : database_.query(
             select + " WHERE trial_id IN " + list_.placeholders + " ORDER BY " + order, list_.ids))
      add(record_of(records_, row[0]), row);
  }

  std::string place(const Record& record, const std::string& what) const {
    return database_.name() + ", trial " + std::to_string(record.trial.number) + ", " + what;
  }

  void add_parameter(Record& record, const Row& row) {
    const std::string& name = text(row[1], place(record, "a parameter's name"));
    const std::string where = place(record, "parameter '" + name + "'");
    const samplers::Distribution& distribution = distributions_.read(text(row[3], where), where);
    record.trial.params[name] = real(row[2], where);
    record.distributions.emplace(name, distribution);
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
  IdList list_;
};

std::optional<std::int64_t> optional_time(const Value& value, Zone zone, const std::string& where) {
  return is_null(value) ? std::nullopt : time_from(text(value, where), zone);
}

Record record_from(const Row& row, Zone zone, const std::string& where) {
  Record record;
  record.id = integer(row[0], where);
  record.trial.number = integer(row[1], where);
  record.trial.state = state_from(text(row[2], where), where);
  record.start = optional_time(row[3], zone, where);
  record.complete = optional_time(row[4], zone, where);
  return record;
}

}  // namespace

const samplers::Distribution& Distributions::read(const std::string& text,
                                                  const std::string& where) {
  const auto found = known_.find(text);
  if (found != known_.end()) return found->second;
  return known_.emplace(text, samplers::distribution_from(parse_json(text, where), where))
      .first->second;
}

void read_details(Database& database, Distributions& distributions, std::vector<Record>& records) {
  constexpr std::size_t chunk = 512;
  DetailReader reader(database, distributions, records);
  for (std::size_t begin = 0; begin < records.size(); begin += chunk)
    reader.read(begin, std::min(begin + chunk, records.size()));
}

void Records::update(Database& database, Distributions& distributions, std::int64_t study,
                     Zone zone) {
  std::vector<Record> fresh;
  for (const Row& row : database.query(
           "SELECT trial_id, number, state, datetime_start, datetime_complete FROM trials "
           "WHERE study_id = $1 AND trial_id >= $2 AND number IS NOT NULL ORDER BY trial_id",
           {study, first_unfinished_})) {
    Record record = record_from(row, zone, database.name() + ", table trials");
    if (!is_known(record)) fresh.push_back(std::move(record));
  }
  read_details(database, distributions, fresh);
  for (Record& record : fresh) put(std::move(record));
  const auto open = std::find_if(records_.begin(), records_.end(), [](const Record& record) {
    return !is_finished(record.trial.state);
  });
  first_unfinished_ = open != records_.end() ? open->id
                      : records_.empty()     ? 0
                                             : records_.back().id + 1;
}

bool Records::is_known(const Record& record) const {
  const auto found =
      std::lower_bound(records_.begin(), records_.end(), record.id,
                       [](const Record& other, std::int64_t value) { return other.id < value; });
  if (found == records_.end() || found->id != record.id) return false;
  const TrialState state = found->trial.state;
  return is_finished(state) ||
         (state == TrialState::waiting && record.trial.state == TrialState::waiting);
}

void Records::put(Record record) {
  const auto place =
      std::lower_bound(records_.begin(), records_.end(), record.id,
                       [](const Record& other, std::int64_t value) { return other.id < value; });
  if (place != records_.end() && place->id == record.id)
    *place = std::move(record);
  else
    records_.insert(place, std::move(record));
}

}  // namespace mase::storage
