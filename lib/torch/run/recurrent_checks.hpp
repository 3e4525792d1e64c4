// SPDX-License-Identifier: Apache-2.0
// Demands of ATen's sequence operators on their arguments that ATen does not check: with tensors
// that do not fit, it reads and writes outside them.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <string_view>
#include <vector>

namespace mase::libtorch {

/// Whether it is a sequence operator: ATen's recurrent layers and cells, and _pad_packed_sequence.
bool is_over_sequences(std::string_view op);

/// The demand of a sequence operator that its arguments do not meet, such as "takes 16 features in
/// the last dimension, given float32[2, 7]"; empty if they meet all, and for other operators.
std::string sequence_demand(std::string_view op, const std::vector<c10::IValue>& arguments);

/// The same for packed sequences only: every step has at least one row and no more than the step
/// before, and the steps together have the rows of `data`, [rows, ...].
std::string batch_sizes_demand(const at::Tensor& data, const at::Tensor& batch_sizes);

}  // namespace mase::libtorch
