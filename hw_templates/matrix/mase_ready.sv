// SPDX-License-Identifier: Apache-2.0
// mase_ready: the ready of a mase_skid for what stands far from it. DSP blocks take registers in front of them when these have
// the same enable, so here it is the skid's own.
module mase_ready (
    input  logic clk,
    input  logic skid_ready,
    input  logic in_valid,    // of the skid
    input  logic out_valid,
    input  logic out_ready,
    output logic ready
);

  logic unused;
  assign unused = &{clk, in_valid, out_valid, out_ready};
  assign ready  = skid_ready;

endmodule
