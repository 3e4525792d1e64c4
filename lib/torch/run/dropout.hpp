// SPDX-License-Identifier: Apache-2.0
// Dropout whose numbers belong to the rows of a batch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>

namespace mase::libtorch {

/// The factors of aten::dropout: 0 with this probability, and 1 / (1 - probability) otherwise. They
/// are drawn for the whole batch, of which a part takes those of its rows (batch_parts.hpp), so
/// that parts whose generators are in the same state draw the numbers of the whole batch. A value
/// has the rows in this dimension, or in that of row_dimension().
at::Tensor dropout_factors(const at::Tensor& input, double probability,
                           std::optional<std::size_t> dimension = {});
/// Drops out while training, with these factors if the batch has several parts.
at::Tensor dropped_out(const at::Tensor& input, double probability, std::size_t dimension);

}  // namespace mase::libtorch
