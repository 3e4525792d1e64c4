// SPDX-License-Identifier: Apache-2.0
// mase_ready for ECP5, whose blocks get their registers by name: in a register of its own, which can stand near what it enables.
module mase_ready (
    input  logic clk,
    input  logic skid_ready,
    input  logic in_valid,    // of the skid
    input  logic out_valid,
    input  logic out_ready,
    output logic ready
);

  logic unused;
  assign unused = skid_ready;
  // Its own past is among its inputs, so that no tool takes the two registers for one. Right from the second cycle after
  // reset on, since the skid is empty in the first one; what is multiplied in that has not come in yet.
  always_ff @(posedge clk) ready <= !out_valid || out_ready || (ready && !in_valid);

endmodule
