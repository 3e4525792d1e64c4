// SPDX-License-Identifier: Apache-2.0
// Its valid waits for ready, through a register.
module mase_skid #(
    parameter int W = 8
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         in_valid,
    output logic         in_ready,
    input  logic [W-1:0] in_data,
    output logic         out_valid,
    input  logic         out_ready,
    output logic [W-1:0] out_data
);
  logic full;
  assign in_ready = !full;
  always_ff @(posedge clk) begin
    if (rst) begin
      full <= 1'b0;
      out_valid <= 1'b0;
    end else if (in_valid && in_ready) full <= 1'b1;
    else if (out_valid && out_ready) begin
      full <= 1'b0;
      out_valid <= 1'b0;
    end else if (full && out_ready) out_valid <= 1'b1;
  end
  always_ff @(posedge clk) if (in_valid && in_ready) out_data <= in_data;
endmodule
