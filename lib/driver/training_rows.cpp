// SPDX-License-Identifier: Apache-2.0
// The rows are evenly spread, so that every class occurs even in a set sorted by class.
#include "driver/training_rows.hpp"

#include <algorithm>

namespace mase::driver {

std::function<void(std::int64_t, const passes::SeeBatch&)> training_rows(
    const data::Dataset& dataset, std::int64_t batch_size) {
  return [&dataset, batch_size](std::int64_t count, const passes::SeeBatch& see) {
    const auto total = static_cast<std::int64_t>(dataset.train.size());
    count = std::min(count, total);
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < count; ++i)
      rows.push_back(dataset.train[static_cast<std::size_t>(i * total / count)]);
    for (std::int64_t first = 0; first < count; first += batch_size)
      see(dataset.batch(rows, first, std::min(batch_size, count - first)).inputs);
  };
}

}  // namespace mase::driver
