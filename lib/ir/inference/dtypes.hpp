// SPDX-License-Identifier: Apache-2.0
// PyTorch's rules for dtypes: their numbers in arguments, and the dtype of several operands.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/array.hpp"
#include "ir/value.hpp"

namespace mase::ir {

/// The dtype with the number that PyTorch's operators take (at::ScalarType); nullopt for types that
/// tensors of a graph cannot have.
std::optional<DType> dtype_of_number(std::int64_t number);

/// The dtype of a result that is a fraction: that of floats, float32 for integers and bool.
DType as_float_type(DType dtype);
/// The dtype of a sum or product of elements: int64 for integers and bool.
DType as_sum_type(DType dtype);

/// The dtype to which all operands can be converted. A tensor without dimensions counts less than
/// one with dimensions, and a number on the host less than both. nullopt if there is none.
std::optional<DType> promoted(const std::vector<ValueInfo>& operands);

}  // namespace mase::ir
