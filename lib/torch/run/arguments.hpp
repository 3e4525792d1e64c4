// SPDX-License-Identifier: Apache-2.0
// Converts constants of a graph to IValues of the types in an operator's schema; Python indexing.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <functional>

#include "ir/value.hpp"

namespace mase::libtorch {

/// Converts a constant to an IValue of `type`; an int becomes a float or a list of one number if
/// the type asks for it. Error(Fault::file) if the value does not fit the type. `count` is the
/// fixed length of a list ("int[2] stride"), or 0.
c10::IValue to_ivalue(const ir::Value& value, const c10::TypePtr& type, int count = 0);
/// Converts a constant to an IValue of its own type. Lists with elements of one type become typed.
c10::IValue to_ivalue(const ir::Value& value);

/// Makes an IValue of the list type `type` (any list if null) from evaluated items.
c10::IValue make_list(std::vector<c10::IValue> items, const c10::TypePtr& type);

/// Gives the value of a node.
using NodeValue = std::function<c10::IValue(ir::NodeId)>;
/// Computes `self[index]` as Python does: containers take an integer, slice or key; tensors take an
/// integer, slice, None, tensor or a tuple of these.
c10::IValue get_item(const c10::IValue& self, const ir::Value& index, const NodeValue& value_of);

}  // namespace mase::libtorch
