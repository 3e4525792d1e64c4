// SPDX-License-Identifier: Apache-2.0
// The microscaling kernels of integers.
#include "formats/microscaling/mx_integer_op.hpp"
#include "formats/microscaling/mx_loops.hpp"

namespace mase::formats::kernels {

const MxKernels MASE_KERNELS_OF(mx_integer_kernels){mx_kernels<OnMxInteger, false>,
                                                    mx_kernels<OnMxInteger, true>};

}  // namespace mase::formats::kernels
