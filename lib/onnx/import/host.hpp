// SPDX-License-Identifier: Apache-2.0
// Operators on host tensors: arithmetic of constants and of sizes, and moves of their elements.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "onnx/import/call.hpp"

namespace mase::onnx {

using HostFunction = std::function<std::optional<HostTensor>(Call&)>;

/// An elementwise operator of two operands that broadcast, by its name in ONNX: "Add", "Equal".
/// Elements that are nodes are integers; those that no host operator computes give nullopt.
HostFunction host_binary(std::string_view op);
/// An elementwise operator of one operand: "Floor", "Not".
HostFunction host_unary(std::string_view op);
/// A reduction over all elements or an axis: "ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin".
HostFunction host_reduction(std::string_view op);

/// The elements of `tensor` in a new shape; element i of the result is element places[i] of it.
HostTensor picked(const HostTensor& tensor, Shape shape, const std::vector<std::int64_t>& places);
/// The place in `from` of each element of `to`, to which it broadcasts.
std::vector<std::int64_t> broadcast_places(const Shape& from, const Shape& to);
/// The shape to which both broadcast; nullopt if they do not.
std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b);
/// The element as one of another dtype; a node stays an integer.
std::optional<ir::Value> cast_item(const ir::Value& item, DType from, DType to);

}  // namespace mase::onnx
