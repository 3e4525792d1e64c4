// SPDX-License-Identifier: Apache-2.0
// Records: the trials of one study as the database has them. Finished trials never change, so they
// are read once.
#pragma once

#include <unordered_map>
#include <vector>

#include "search/storage/database.hpp"
#include "search/storage/encode.hpp"
#include "search/storage/storage.hpp"

namespace mase::storage {

/// Distributions by their text: the same few stand in every trial.
class Distributions {
 public:
  std::shared_ptr<const samplers::Distribution> read(const std::string& text,
                                                     const std::string& where);

 private:
  std::unordered_map<std::string, std::shared_ptr<const samplers::Distribution>> known_;
};

/// What is read of a trial: everything, or what Storage::leave_out_attributes leaves.
enum class Details { all, decisive };

/// Fills in everything that stands outside of the table `trials`; records in ascending id.
void read_details(Database& database, Distributions& distributions, std::vector<Record>& records,
                  Details details = Details::all);

/// The trials of a study as last read: finished ones are not read again, so what a call costs does
/// not depend on how many there are.
class Records {
 public:
  /// Reads what is new since the last call and what was not finished then; inside a transaction.
  void update(Database& database, Distributions& distributions, std::int64_t study, Zone zone,
              Details details);
  const std::vector<Record>& all() const { return records_; }
  std::vector<Record> take() && { return std::move(records_); }
  /// All trials with a smaller id are finished.
  std::int64_t first_unfinished() const { return open_.empty() ? next_ : open_.front(); }

 private:
  void put(Record record);
  Record& at(std::int64_t id);

  std::vector<Record> records_;     ///< ascending id, which is ascending number
  std::vector<std::int64_t> open_;  ///< ids of those that are not finished, ascending
  std::int64_t next_ = 0;           ///< above the ids of all that were read
};

}  // namespace mase::storage
