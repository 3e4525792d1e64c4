// SPDX-License-Identifier: Apache-2.0
// mase_operands: the register of a step's operands. That of shared ones has a reset: see mase_dot_skew.
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

  if (SHARED != 0) begin : g_reset
    always_ff @(posedge clk)
      if (rst) out <= '0;
      else if (enable) out <= in;
  end else begin : g_plain
    logic unused_rst;
    assign unused_rst = rst;
    always_ff @(posedge clk) if (enable) out <= in;
  end

endmodule
