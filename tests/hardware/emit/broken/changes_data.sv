// SPDX-License-Identifier: Apache-2.0
// Its data changes during the second stalled cycle and comes back.
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
  logic [W-1:0] data;
  logic [1:0] waited;
  assign out_data = (waited == 2'd2) ? ~data : data;
  always_ff @(posedge clk) begin
    if (rst) full <= 1'b0;
    else if (in_valid && in_ready) full <= 1'b1;
    else if (out_ready) full <= 1'b0;
  end
  always_ff @(posedge clk) begin
    waited <= (out_valid && !out_ready && waited != 2'd3) ? waited + 1'b1 : '0;
  end
  always_ff @(posedge clk) if (in_valid && in_ready) data <= in_data;
endmodule
