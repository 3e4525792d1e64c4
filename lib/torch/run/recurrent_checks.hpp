// SPDX-License-Identifier: Apache-2.0
// What ATen's operators over sequences ask of their arguments without checking it: they read and
// write outside of tensors that do not fit.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <string_view>
#include <vector>

namespace mase::libtorch {

/// Whether an operator is one of them: ATen's recurrent layers and cells, and _pad_packed_sequence.
bool is_over_sequences(std::string_view op);

/// Which demand of such an operator its arguments do not meet, such as "takes 16 features in the
/// last dimension, given float32[2, 7]"; empty where they meet all, and for other operators.
std::string sequence_demand(std::string_view op, const std::vector<c10::IValue>& arguments);

/// The same of packed sequences alone: every step has at least one row, none has more than the one
/// before, and together they are the rows of `data`, [rows, ...].
std::string batch_sizes_demand(const at::Tensor& data, const at::Tensor& batch_sizes);

}  // namespace mase::libtorch
