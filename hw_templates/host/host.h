/* SPDX-License-Identifier: Apache-2.0
 * Streams of @TOP@ at its AXI wrapper, and which design this is. */
#ifndef MASE_DESIGN_H
#define MASE_DESIGN_H

#include "mase_host.h"

#define MASE_DESIGN_NUMBER 0x@NUMBER@u
#define MASE_INPUTS @INPUTS@
#define MASE_OUTPUTS @OUTPUTS@

@ORDERS@@LEVELS@static const mase_stream mase_inputs[MASE_INPUTS] = {
@INPUT_ROWS@};
static const mase_stream mase_outputs[MASE_OUTPUTS] = {
@OUTPUT_ROWS@};

#endif
