// SPDX-License-Identifier: Apache-2.0
// Folds transposes away. Exporters of frameworks whose images are [N, H, W, C] write them around
// layers and in front of a classifier.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/import/call.hpp"

namespace mase::onnx {

/// The tensor with its dimensions in the order `perm`. A transpose of a transpose is one node; it
/// is the tensor itself if both cancel.
ir::NodeId transposed_tensor(Call& call, ir::NodeId tensor, std::vector<std::int64_t> perm);

/// A matrix whose rows are flattened in another order than the tensor that they come from.
struct FlattenedTranspose {
  ir::NodeId rows;                   ///< the same matrix without the transpose
  std::vector<std::int64_t> places;  ///< column i of it is column places[i] of the given one
};

/// For a reshape of [N, ...] to [N, columns] behind a transpose that leaves N in front; nullopt for
/// all else. Adds the node that flattens without the transpose.
std::optional<FlattenedTranspose> flattened_transpose(Call& call, ir::NodeId matrix);

}  // namespace mase::onnx
