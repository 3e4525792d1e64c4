// SPDX-License-Identifier: Apache-2.0
// Supplies rows of a data set to the passes that learn from data.
#pragma once

#include <functional>

#include "data/dataset.hpp"
#include "passes/pass.hpp"

namespace mase::driver {

/// A PassContext::training_rows for the training part of `dataset`, which must outlive it. From n
/// rows it takes row i * n / count for i = 0 .. count - 1, in this order, `batch_size` at a time.
std::function<void(std::int64_t, const passes::SeeBatch&)> training_rows(
    const data::Dataset& dataset, std::int64_t batch_size);

}  // namespace mase::driver
