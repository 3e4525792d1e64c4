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
  const samplers::Distribution& read(const std::string& text, const std::string& where);

 private:
  std::unordered_map<std::string, samplers::Distribution> known_;
};

/// Fills in everything that stands outside of the table `trials`; records in ascending id.
void read_details(Database& database, Distributions& distributions, std::vector<Record>& records);

/// The trials of a study as last read: finished ones are not read again.
class Records {
 public:
  /// Reads what is new since the last call and what was not finished then; inside a transaction.
  void update(Database& database, Distributions& distributions, std::int64_t study, Zone zone);
  const std::vector<Record>& all() const { return records_; }
  /// All trials with a smaller id are finished.
  std::int64_t first_unfinished() const { return first_unfinished_; }

 private:
  /// Finished when it was last read, or waiting then and now: nothing of it has changed.
  bool is_known(const Record& record) const;
  void put(Record record);

  std::vector<Record> records_;  ///< ascending id, which is ascending number
  std::int64_t first_unfinished_ = 0;
};

}  // namespace mase::storage
