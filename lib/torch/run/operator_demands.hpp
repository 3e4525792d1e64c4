// SPDX-License-Identifier: Apache-2.0
// Demands of allowed operators on their arguments that LibTorch does not check: with other
// arguments it reads or writes outside tensors, divides by zero or never ends.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <string_view>
#include <vector>

namespace mase::libtorch {

/// Whether an operator has demands, not counting enumerations.
bool has_demands(std::string_view op);
/// Whether it has demands that depend on tensors and can be checked only when it runs.
bool has_tensor_demands(std::string_view op);

/// The demand of an operator that its arguments (in the order of its schema) do not meet, such as
/// "takes 16 features in the last dimension, given float32[2, 7]"; empty if they meet all demands.
/// The schema is needed to check enumerations; it may be null.
std::string operator_demand(std::string_view op, const c10::FunctionSchema* schema,
                            const std::vector<c10::IValue>& arguments);
/// Throws an error if a demand is not met.
void require_demands(std::string_view op, const std::vector<c10::IValue>& arguments);

}  // namespace mase::libtorch
