// SPDX-License-Identifier: Apache-2.0
// The mean cross entropy of a batch, and its gradient.
#pragma once

#include <cstdint>
#include <span>

namespace mase::train {

/// `outputs` and `gradient` are [rows, width] row by row, rows = labels.size(). Returns the mean
/// over rows of -(1 - s) log p[label] - s / width * sum_j log p[j], p = softmax(outputs), s =
/// smoothing (Szegedy et al., CVPR 2016), in nats; `gradient` gets the derivative by each output.
double cross_entropy(std::span<const float> outputs, std::span<const std::int64_t> labels,
                     double smoothing, std::span<float> gradient);

}  // namespace mase::train
