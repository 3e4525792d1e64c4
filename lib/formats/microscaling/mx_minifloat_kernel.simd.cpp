// SPDX-License-Identifier: Apache-2.0
// The microscaling kernels of minifloats.
#include "formats/microscaling/mx_loops.hpp"
#include "formats/microscaling/mx_minifloat_op.hpp"

namespace mase::formats::kernels {

const MxKernels MASE_KERNELS_OF(mx_minifloat_kernels){mx_kernels<OnMxMinifloat, false>,
                                                      mx_kernels<OnMxMinifloat, true>};

}  // namespace mase::formats::kernels
