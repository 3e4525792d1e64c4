// SPDX-License-Identifier: Apache-2.0
// The table of all loops over lanes.
#include "torch/train/lanes/convolution_loop.hpp"
#include "torch/train/lanes/pack_loop.hpp"
#include "torch/train/lanes/plane_loop.hpp"

namespace mase::train {
namespace {

static_assert(simd::lanes == lane_count);

/// A register tile has most_rows output channels times `side` bundles or input channels. If a
/// vector takes four or two registers, 8 of 16 registers are sums; if it takes one, 16 of 32.
constexpr std::size_t most_rows = simd::Simd::width / 2, side = simd::parts == 1 ? 2 : 1;

}  // namespace

const LaneKernels MASE_KERNELS_OF(lane_kernels){
    most_rows,
    side,
    gather_bundles<most_rows, side>,
    weight_sums<most_rows, side>,
    plane_sum,
    plane_squares,
    pack,
    unpack,
    {{tail<Joint::none, Activation::none>, tail<Joint::none, Activation::relu>,
      tail<Joint::none, Activation::clamp>},
     {tail<Joint::pool, Activation::none>, tail<Joint::pool, Activation::relu>,
      tail<Joint::pool, Activation::clamp>},
     {tail<Joint::sum, Activation::none>, tail<Joint::sum, Activation::relu>,
      tail<Joint::sum, Activation::clamp>}}};

}  // namespace mase::train
