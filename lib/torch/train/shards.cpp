// SPDX-License-Identifier: Apache-2.0
// Divides shards among processes.
#include "torch/train/shards.hpp"

#include <string>

#include "base/error.hpp"

namespace mase::train {

Shards Shards::of(const backend::Ranks& ranks, std::optional<int> wanted, std::int64_t rows) {
  Shards shards{wanted.value_or(ranks.size), 0, 0};
  if (shards.all < ranks.size || (wanted && shards.all > rows))
    config_error("shards = " + std::to_string(shards.all) + ": there are " +
                 std::to_string(ranks.size) + " processes and " + std::to_string(rows) +
                 " rows in a batch, and each process has at least one shard, and each shard one "
                 "row");
  shards.first = shards.first_of(ranks, ranks.rank);
  shards.end = shards.first_of(ranks, ranks.rank + 1);
  return shards;
}

}  // namespace mase::train
