// SPDX-License-Identifier: Apache-2.0
// Records: the trials of a study in the database. Finished trials never change, so they are read
// only once.
#pragma once

#include <unordered_map>
#include <vector>

#include "search/storage/database.hpp"
#include "search/storage/encode.hpp"
#include "search/storage/storage.hpp"

namespace mase::storage {

/// Distributions by their text. All trials have the same few distributions.
class Distributions {
 public:
  std::shared_ptr<const samplers::Distribution> read(const std::string& text,
                                                     const std::string& where);

 private:
  std::unordered_map<std::string, std::shared_ptr<const samplers::Distribution>> known_;
};

/// Which details of a trial to read: all, or what Storage::leave_out_attributes leaves.
enum class Details { all, decisive };

/// Adds everything from outside the table `trials` to the records, which are in ascending id.
/// One round trip.
void read_details(Database& database, Distributions& distributions, std::vector<Record>& records,
                  Details details = Details::all);

/// The trials of a study as last read. Finished trials are not read again, so the cost of a call
/// does not depend on their number.
class Records {
 public:
  /// Reads new trials and those that were not finished at the last call, within a transaction. One
  /// round trip, with what the transaction has asked for before.
  void update(Database& database, Distributions& distributions, std::int64_t study, Zone zone,
              Details details);
  const std::vector<Record>& all() const { return records_; }
  std::vector<Record> take() && { return std::move(records_); }
  /// The id of the first unfinished trial: all trials with a smaller id are finished.
  std::int64_t first_unfinished() const { return open_.empty() ? next_ : open_.front(); }

 private:
  std::vector<std::int64_t> open_in(TrialState state) const;
  void put(Record record);
  std::size_t index_of(std::int64_t id) const;

  std::vector<Record> records_;     ///< in ascending id, and so in ascending number
  std::vector<std::int64_t> open_;  ///< ids of unfinished trials, ascending
  std::int64_t next_ = 0;           ///< greater than the ids of all trials read
};

}  // namespace mase::storage
