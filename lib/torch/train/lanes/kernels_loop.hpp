// The table of all loops for one instruction set. Included by the kernel source files.
#pragma once

#include "torch/train/lanes/convolution_loop.hpp"
#include "torch/train/lanes/pack_loop.hpp"
#include "torch/train/lanes/plane_loop.hpp"

namespace mase::train {
namespace {

/// With register tiles of most_rows output channels times `side` bundles or input channels.
template <std::size_t most_rows, std::size_t side>
LaneKernels lane_kernel_table() {
  return {most_rows,
          side,
          gather_bundles<most_rows, side>,
          weight_sums<most_rows, side>,
          plane_sum,
          plane_squares,
          pack,
          unpack,
          {{tail<false, false>(), tail<false, true>()}, {tail<true, false>(), tail<true, true>()}}};
}

}  // namespace
}  // namespace mase::train
