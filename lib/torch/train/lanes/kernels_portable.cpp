// The loops over lanes for any machine.
#define MASE_LANES_TARGET
#define MASE_LANES_NATIVE 4
// The loops need the target.
#include "torch/train/lanes/kernels_loop.hpp"

namespace mase::train {

// Of 16 registers, 8 hold sums where a vector takes four.
LaneKernels lane_kernels_portable() { return lane_kernel_table<2, 1>(); }

}  // namespace mase::train
