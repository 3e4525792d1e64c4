// SPDX-License-Identifier: Apache-2.0
// Constants of a graph as IValues of the type an operator's schema asks for, and Python indexing.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <functional>

#include "ir/value.hpp"

namespace mase::libtorch {

/// A constant as an IValue of `type`: ints become floats and one-number lists where the schema says
/// so. Error(Fault::file) when the value does not fit the type. `count` is the fixed length of a
/// list ("int[2] stride"), or 0.
c10::IValue to_ivalue(const ir::Value& value, const c10::TypePtr& type, int count = 0);
/// A constant with the type it says itself; lists of one kind become typed lists.
c10::IValue to_ivalue(const ir::Value& value);

/// A list of evaluated items as an IValue of the list type `type` (any list when null).
c10::IValue make_list(std::vector<c10::IValue> items, const c10::TypePtr& type);

/// Gives the value of a node.
using NodeValue = std::function<c10::IValue(ir::NodeId)>;
/// `self[index]` with Python's meaning: containers by integer, slice or key, tensors by integer,
/// slice, none, tensor or a tuple of these.
c10::IValue get_item(const c10::IValue& self, const ir::Value& index, const NodeValue& value_of);

}  // namespace mase::libtorch
