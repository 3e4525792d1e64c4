// SPDX-License-Identifier: Apache-2.0
// Takes every eighth beat and never gives it.
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
  assign out_valid = full;
  logic [2:0] count;
  always_ff @(posedge clk) begin
    if (rst) begin
      full  <= 1'b0;
      count <= '0;
    end else if (in_valid && in_ready) begin
      full  <= count != '1;
      count <= count + 1'b1;
    end else if (out_ready) full <= 1'b0;
  end
  always_ff @(posedge clk) if (in_valid && in_ready) out_data <= in_data;
endmodule
