// SPDX-License-Identifier: Apache-2.0
// Gives every tensor, shape and written number of a graph the new widths of its channels.
#pragma once

#include <cstdint>

#include "passes/channels/channel_sources.hpp"

namespace mase::passes {

/// Where the weights of resized layers come from.
struct ResizeOptions {
  bool random = false;  ///< fresh initial weights for the layers concerned
  double noise = 0;
  std::uint64_t seed = 0;
};

/// Error before anything changes: Fault::config for tensors beyond 2^31 elements,
/// Fault::unsupported for weights to be divided that are not float32.
void resize_channels(ir::Graph& graph, const ChannelMap& map, const ChannelWidths& widths,
                     const ResizeOptions& options);

}  // namespace mase::passes
