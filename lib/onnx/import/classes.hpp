// SPDX-License-Identifier: Apache-2.0
// What the classical models of ai.onnx.ml have in common: rows of numbers, affine steps with
// numbers of attributes, and classes with labels.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "onnx/import/call.hpp"

namespace mase::onnx {

/// The domain of these operators.
inline constexpr std::string_view classical_models = "ai.onnx.ml";

/// Operand 0 as rows of float32: a single row gets the dimension of a batch.
ir::NodeId rows_of(Call& call);
/// The numbers of an attribute as float32; empty if the node has none.
std::vector<float> floats(const Call& call, std::string_view name);
/// A tensor of the graph, with a name below that of the node.
ir::NodeId parameter(Call& call, std::string_view name, Array value);
/// rows W^T + bias as a layer of the node's name. `weight` is [bias.size(), columns] in row-major
/// order.
ir::NodeId affine(Call& call, ir::NodeId rows, const std::vector<float>& weight,
                  const std::vector<float>& bias);
/// The functions of scores that the attribute post_transform names.
ir::NodeId post_transformed(Call& call, ir::NodeId scores);
/// How many classes the node's labels name.
std::size_t class_count(const Call& call);
/// Gives the labels of classes (int64, one per row) as the first result, and [rows, classes] as the
/// second one. Labels that are texts become their places among the labels, which a note says.
void give_classes(Call& call, ir::NodeId classes, ir::NodeId scores);
/// The places of the largest scores.
ir::NodeId best_class(Call& call, ir::NodeId scores);

}  // namespace mase::onnx
