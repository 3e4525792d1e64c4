// SPDX-License-Identifier: Apache-2.0
// Arguments that stand for one of a few things: types of elements, layouts, orders in memory and
// devices. LibTorch takes them as numbers and looks them up in tables without looking at the
// number.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace mase::libtorch {

/// Whether the argument is one of them.
bool is_enumeration(const c10::Argument& argument);

/// What the argument takes, if it does not take the value, such as "takes a type of elements as
/// 'dtype', given 99"; else empty.
std::string enumeration_demand(const c10::Argument& argument, const c10::IValue& value);
/// The same of all arguments of an operator, in the order of its schema.
std::string enumeration_demand(const c10::FunctionSchema& schema,
                               const std::vector<c10::IValue>& arguments);

}  // namespace mase::libtorch
