// SPDX-License-Identifier: Apache-2.0
// Steps that many rows take: one node each.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "onnx/import/call.hpp"

namespace mase::onnx {

/// The number of a dtype in arguments of ATen's operators (at::ScalarType).
std::int64_t number_of(DType dtype);

/// An operator of one tensor.
ir::NodeId applied(Call& call, std::string_view aten, ir::NodeId node);
/// An operator of two operands, by its base name; a number takes the overload for numbers.
ir::NodeId combined(Call& call, std::string_view aten, ir::NodeId self, const ir::Value& other);
/// The tensor in another dtype; the node itself if it has that one.
ir::NodeId converted(Call& call, ir::NodeId node, DType dtype);
ir::NodeId reshaped(Call& call, ir::NodeId node, std::vector<ir::Value> sizes);
ir::NodeId permuted(Call& call, ir::NodeId node, const std::vector<std::int64_t>& dims);
/// An item of a tuple or list.
ir::NodeId item_of(Call& call, ir::NodeId container, std::int64_t index);
/// A node that reads a constant of the importer's own.
ir::NodeId constant_node(Call& call, Array value);

/// All sizes of a tensor.
std::vector<ir::Value> sizes_of(Call& call, ir::NodeId node);
/// a * b and a / b of sizes; nodes where they are not known.
ir::Value product(Call& call, const ir::Value& a, const ir::Value& b);
ir::Value quotient(Call& call, const ir::Value& a, std::int64_t b);
/// The size of a dimension that must not depend on symbols of the file.
std::int64_t fixed_size(Call& call, ir::NodeId node, std::int64_t dim);

}  // namespace mase::onnx
