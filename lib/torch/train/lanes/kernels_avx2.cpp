// The loops over lanes for AVX2.
#if defined(__x86_64__)
#define MASE_LANES_TARGET __attribute__((target("avx2,fma")))
#define MASE_LANES_NATIVE 8
// The loops need the target.
#include "torch/train/lanes/kernels_loop.hpp"

namespace mase::train {

// Of 16 registers, 8 hold sums: a vector takes two.
LaneKernels lane_kernels_avx2() { return lane_kernel_table<4, 1>(); }

}  // namespace mase::train
#endif
