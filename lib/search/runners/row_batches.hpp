// SPDX-License-Identifier: Apache-2.0
// The rows of a data set that the trials of a search are measured on, batch after batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "data/dataset.hpp"

namespace mase::search {

/// Rows of a part in batches of 512, in their order. All are kept in memory when they take at most
/// `most_kept` bytes; otherwise every pass gathers one batch at a time.
class RowBatches {
 public:
  static constexpr std::size_t most_kept = std::size_t{256} << 20;

  /// The first `count` of these rows. The data set must outlive it.
  RowBatches(const data::Dataset& dataset, const std::vector<std::int64_t>& rows,
             std::int64_t count, std::size_t most = most_kept);

  void for_each(const std::function<void(const data::Batch&)>& use) const;
  const data::Dataset& dataset() const { return dataset_; }
  bool are_kept() const { return !kept_.empty(); }

 private:
  void gather_each(const std::function<void(data::Batch)>& use) const;

  const data::Dataset& dataset_;
  std::vector<std::int64_t> rows_;
  std::vector<data::Batch> kept_;
};

}  // namespace mase::search
