/* SPDX-License-Identifier: Apache-2.0
 * The streams of host.h for other languages: together with mase_host.c a shared library,
 *   gcc -O2 -shared -fPIC -o libmase_design.so design.c mase_host.c -lm */
#include "host.h"

const mase_stream* mase_design_inputs(size_t* count) {
  *count = MASE_INPUTS;
  return mase_inputs;
}
const mase_stream* mase_design_outputs(size_t* count) {
  *count = MASE_OUTPUTS;
  return mase_outputs;
}
uint32_t mase_design_number(void) { return MASE_DESIGN_NUMBER; }
