// Choosing the loops for the running machine.
#include "torch/train/lanes/kernels.hpp"

#include "base/error.hpp"

namespace mase::train {

using formats::kernels::Isa;

LaneKernels lane_kernels(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return lane_kernels_avx512();
  if (isa == Isa::avx2 && __builtin_cpu_supports("fma")) return lane_kernels_avx2();
#endif
  return lane_kernels_portable();
}

const LaneKernels& lane_kernels() {
  static const LaneKernels kernels = lane_kernels(formats::kernels::best_isa());
  return kernels;
}

}  // namespace mase::train
