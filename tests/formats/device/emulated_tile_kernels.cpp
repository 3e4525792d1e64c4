// SPDX-License-Identifier: Apache-2.0
// The kernels of blocks for GPUs compiled for this processor.
#include "formats/device/tile_kernels.cuda.cpp"
