// SPDX-License-Identifier: Apache-2.0
// The inputs of linear layers and convolutions as rows that are multiplied with the weight's rows.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/graph.hpp"

namespace mase::passes {

/// How a linear layer (no kernel) or a convolution over one or two dimensions reads its input.
struct LayerGeometry {
  std::int64_t groups = 1;
  Shape kernel, stride, dilation;
  Shape padding;  ///< zeros before the first element of each dimension
  Shape outputs;  ///< output sizes of the spatial dimensions

  /// The geometry of a node whose op is linear, conv1d or conv2d, with a weight of this shape.
  static LayerGeometry of(const ir::Graph& graph, const ir::Node& node, const Shape& weight);
};

/// Calls see(group, rows) for one sample of the input at a time, until it has shown all rows. rows
/// is [n, columns], row-major, with the columns of a weight's row (channels of the group, kernel).
void show_rows(const LayerGeometry& geometry, const Array& input,
               const std::function<void(std::int64_t, std::span<const float>)>& see);

}  // namespace mase::passes
