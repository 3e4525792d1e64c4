// The loops over lanes for AVX-512.
#if defined(__x86_64__)
#define MASE_LANES_TARGET __attribute__((target("avx512f,fma")))
#define MASE_LANES_NATIVE 16
// The loops need the target.
#include "torch/train/lanes/kernels_loop.hpp"

namespace mase::train {

// Of 32 registers, 16 hold sums.
LaneKernels lane_kernels_avx512() { return lane_kernel_table<8, 2>(); }

}  // namespace mase::train
#endif
