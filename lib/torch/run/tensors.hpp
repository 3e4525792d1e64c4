// SPDX-License-Identifier: Apache-2.0
// Converts between Array and at::Tensor, and between graph values and IValues.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

#include "base/array.hpp"
#include "ir/value.hpp"

namespace mase::libtorch {

at::ScalarType scalar_type(DType dtype);
/// The DType of a tensor. Error(Fault::unsupported) that names `what` for complex, quantized etc.
DType dtype_of(at::ScalarType type, const std::string& what);

/// A tensor on the bytes of the array, which it keeps alive. READ ONLY, because other copies of the
/// array share these bytes. Contiguous, without a gradient.
at::Tensor view_of(const Array& array);
/// A tensor with its own copy of the values.
at::Tensor copy_of(const Array& array);
/// Copies the values (detached, contiguous, on the CPU). `what` names the tensor in errors.
Array to_array(const at::Tensor& tensor, const std::string& what = "tensor");

/// The numbers on the CPU as a tensor of one dimension with its own memory, and back from any
/// device.
at::Tensor tensor_of(const std::vector<float>& values);
std::vector<float> floats_of(const at::Tensor& tensor);

/// Whether shapes, types and values are equal bit for bit, except for the kind of a NaN and the
/// sign of 0.
bool same_values(const at::Tensor& a, const at::Tensor& b);

/// Describes a value: dtype and shape of a tensor, type of a host value, elements of a container.
ir::ValueInfo info_of(const c10::IValue& value, const std::string& what = "a result");

/// Converts a host constant (None, bool, int, float, string, device, lists and tuples of these) to
/// a graph value. Error(Fault::unsupported) for tensors and anything else.
ir::Value to_value(const c10::IValue& value);

}  // namespace mase::libtorch
