// SPDX-License-Identifier: Apache-2.0
// The kernels for GPUs compiled for this processor, which runs their threads one after another.
#include "formats/device/element_kernels.cuda.cpp"
