// SPDX-License-Identifier: Apache-2.0
// Batches of texts of similar lengths, which need little padding.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "data/dataset.hpp"

namespace mase::data {

/// Makes batches of a data set only as wide as their longest row, and puts the rows of validation
/// and test into an order in which the rows of a batch have similar lengths.
/// Error(Fault::config) for a data set without lengths.
void group_by_length(Dataset& dataset, std::int64_t batch_size, std::uint64_t seed);

/// Shuffled rows in another order: among those of some fifty batches each, rows of similar length
/// are in one batch, as transformers groups them. The order of batches is random, and a last one
/// that is not full stays the last.
std::vector<std::int64_t> rows_by_length(const Dataset& dataset, std::vector<std::int64_t> shuffled,
                                         std::int64_t batch_size, Random& random);

}  // namespace mase::data
