// SPDX-License-Identifier: Apache-2.0
// mase_operands for ECP5: without a reset it can be the output register of the block memory before it.
module mase_operands #(
    parameter int W = 64,
    parameter int SHARED = 0  // several dot products read them
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         enable,
    input  logic [W-1:0] in,
    output logic [W-1:0] out
);

  localparam logic ANY_SHARED = SHARED != 0;
  logic unused;
  assign unused = &{ANY_SHARED, rst};
  always_ff @(posedge clk) if (enable) out <= in;

endmodule
