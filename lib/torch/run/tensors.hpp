// SPDX-License-Identifier: Apache-2.0
// The bridge between Array and at::Tensor, and between graph values and IValues.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>

#include "base/array.hpp"
#include "ir/value.hpp"

namespace mase::libtorch {

at::ScalarType scalar_type(DType dtype);
/// Error(Fault::unsupported) naming `what` for a type that Arrays do not have (complex, quantized).
DType dtype_of(at::ScalarType type, const std::string& what);

/// A tensor over the array's own bytes, which it keeps alive. READ ONLY: other copies of the array
/// see the same bytes. Contiguous, no gradient.
at::Tensor view_of(const Array& array);
/// A tensor with its own copy of the values.
at::Tensor copy_of(const Array& array);
/// A copy of the values (detached, contiguous, on the CPU); `what` names the tensor in errors.
Array to_array(const at::Tensor& tensor, const std::string& what = "tensor");

/// Whether shapes, types and values are the same, bit for bit but for kinds of NaN and the sign of
/// 0.
bool same_values(const at::Tensor& a, const at::Tensor& b);

/// What is known of a value: tensor dtype and shape, host type, elements of containers.
ir::ValueInfo info_of(const c10::IValue& value, const std::string& what = "a result");

/// A host constant (none, bool, int, float, string, device, lists and tuples of these) as a graph
/// value; Error(Fault::unsupported) for tensors and anything else.
ir::Value to_value(const c10::IValue& value);

}  // namespace mase::libtorch
