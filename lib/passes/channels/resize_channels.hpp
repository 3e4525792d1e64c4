// SPDX-License-Identifier: Apache-2.0
// Gives the tensors, shapes and written numbers of a graph new widths of channels.
#pragma once

#include <cstdint>

#include "passes/channels/channel_sources.hpp"

namespace mase::passes {

/// Where the weights of resized layers come from.
struct ResizeOptions {
  bool random = false;  ///< give the resized layers fresh initial weights
  double noise = 0;
  std::uint64_t seed = 0;
};

/// Resizes the graph. Throws before anything changes: Error(Fault::config) for tensors of more than
/// 2^31 elements, Error(Fault::unsupported) for weights to be divided that are not float32.
void resize_channels(ir::Graph& graph, const ChannelMap& map, const ChannelWidths& widths,
                     const ResizeOptions& options);

}  // namespace mase::passes
