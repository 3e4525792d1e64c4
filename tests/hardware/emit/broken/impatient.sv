// SPDX-License-Identifier: Apache-2.0
// Loses what it has held for 40 cycles.
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
  logic [5:0] held;
  assign in_ready = !full;
  assign out_valid = full;
  always_ff @(posedge clk) begin
    if (rst) full <= 1'b0;
    else if (in_valid && in_ready) full <= 1'b1;
    else if (out_ready || held == 6'd40) full <= 1'b0;
  end
  always_ff @(posedge clk) held <= full && !out_ready ? held + 6'd1 : 6'd0;
  always_ff @(posedge clk) if (in_valid && in_ready) out_data <= in_data;
endmodule
