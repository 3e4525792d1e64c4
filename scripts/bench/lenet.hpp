// SPDX-License-Identifier: Apache-2.0
// The network of several benchmarks.
#pragma once

#include "models/builder.hpp"

namespace mase {

/// lenet without batch norms, as fuse_batch_norm leaves it.
inline ir::Graph make_lenet() {
  models::Builder builder("lenet", "LeNet", {1, 28, 28}, 0);
  builder.conv2d("conv1", 8, 5, 0, true);
  builder.call_relu();
  builder.max_pool2d("pool1", 2);
  builder.conv2d("conv2", 16, 5, 0, true);
  builder.call_relu();
  builder.call_max_pool2d(2);
  builder.call_flatten();
  builder.linear("fc1", 64);
  builder.relu("relu3");
  builder.linear("fc2", 10);
  return builder.finish();
}

}  // namespace mase
