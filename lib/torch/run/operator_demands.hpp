// SPDX-License-Identifier: Apache-2.0
// What allowed operators ask of their arguments without checking it: with others LibTorch reads or
// writes outside of tensors, divides by zero or never ends.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <string_view>
#include <vector>

namespace mase::libtorch {

/// Whether an operator has demands, enumerations apart.
bool has_demands(std::string_view op);
/// Whether it has demands on arguments that tensors decide, which are known only when it runs.
bool has_tensor_demands(std::string_view op);

/// Which demand of an operator its arguments, in the order of its schema, do not meet, such as
/// "takes 16 features in the last dimension, given float32[2, 7]"; empty where they meet all. The
/// schema tells its enumerations; null without.
std::string operator_demand(std::string_view op, const c10::FunctionSchema* schema,
                            const std::vector<c10::IValue>& arguments);
/// An error that says so.
void require_demands(std::string_view op, const std::vector<c10::IValue>& arguments);

}  // namespace mase::libtorch
