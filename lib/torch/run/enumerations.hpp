// SPDX-License-Identifier: Apache-2.0
// Checks arguments that are enumerations: element types, layouts, memory formats and devices.
// LibTorch takes them as numbers and uses them as indices into tables without checking their
// range.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace mase::libtorch {

/// Whether the argument is an enumeration.
bool is_enumeration(const c10::Argument& argument);

/// Describes what the argument takes if the value is not valid, such as "takes a type of elements
/// as 'dtype', given 99". Empty if the value is valid.
std::string enumeration_demand(const c10::Argument& argument, const c10::IValue& value);
/// The same for all arguments of an operator, in the order of its schema.
std::string enumeration_demand(const c10::FunctionSchema& schema,
                               const std::vector<c10::IValue>& arguments);

}  // namespace mase::libtorch
