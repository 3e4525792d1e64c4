// SPDX-License-Identifier: Apache-2.0
// Operators that draw random numbers, with numbers that belong to the rows of a batch.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "torch/run/batch_parts.hpp"

namespace mase::libtorch {

/// Numbers like those of `input`: `draw` draws them in place for the whole batch, and a part takes
/// those of its rows, which are in this dimension, or in that of row_dimension().
at::Tensor draws_of_rows(const at::Tensor& input, std::optional<std::size_t> dimension,
                         const std::function<void(const at::Tensor& all)>& draw);

/// Computes an operator in training from its arguments, and replaces them by its results. With the
/// same draws, the results are those of the operator, up to rounding. Returns false, and changes
/// nothing, for arguments with which the operator does not draw.
using DrawByRow = bool (*)(std::vector<c10::IValue>& stack);

/// How an operator of ATen ("aten::dropout") draws by row; null if it does not.
DrawByRow find_draw_by_row(std::string_view op);

}  // namespace mase::libtorch
