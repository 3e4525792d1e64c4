// SPDX-License-Identifier: Apache-2.0
// A skid that takes one beat and gives it for ever.
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
  logic unused_ready;
  assign unused_ready = &{1'b0, out_ready};

  always_ff @(posedge clk) begin
    if (rst) begin
      in_ready  <= 1'b1;
      out_valid <= 1'b0;
    end else if (in_valid && in_ready) begin
      in_ready  <= 1'b0;
      out_valid <= 1'b1;
      out_data  <= in_data;
    end
  end
endmodule
