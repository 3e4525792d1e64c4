// SPDX-License-Identifier: Apache-2.0
// The parts of a step's rows. What is computed depends on them alone, and not on the number of
// processes that share them.
#pragma once

#include <cstdint>
#include <optional>

#include "backend/ranks.hpp"

namespace mase::train {

/// All shards of a step, and those of this process: [first, end).
struct Shards {
  std::int64_t all = 1, first = 0, end = 1;

  /// One for each process unless `wanted` says how many. Error(Fault::config) if they are fewer
  /// than the processes, or more than `rows`.
  static Shards of(const backend::Ranks& ranks, std::optional<int> wanted, std::int64_t rows);

  std::int64_t own() const { return end - first; }
  /// The first of the shards of a process.
  std::int64_t first_of(const backend::Ranks& ranks, std::int64_t rank) const {
    return all * rank / ranks.size;
  }
  /// The first row of a shard among `rows` rows.
  std::int64_t begin(std::int64_t shard, std::int64_t rows) const { return rows * shard / all; }
};

}  // namespace mase::train
