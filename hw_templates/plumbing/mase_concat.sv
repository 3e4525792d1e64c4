// SPDX-License-Identifier: Apache-2.0
// Puts streams one after another: A_BEATS beats of a, then B_BEATS beats of b, again and again.
module mase_concat #(
    parameter int W = 8,
    parameter int A_BEATS = 1,
    parameter int B_BEATS = 1
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         a_valid,
    output logic         a_ready,
    input  logic [W-1:0] a_data,
    input  logic         b_valid,
    output logic         b_ready,
    input  logic [W-1:0] b_data,
    output logic         out_valid,
    input  logic         out_ready,
    output logic [W-1:0] out_data
);
  localparam int MOST = (A_BEATS > B_BEATS) ? A_BEATS : B_BEATS;
  localparam int CW = (MOST > 1) ? $clog2(MOST) : 1;

  // Whose turn it is stands in a register, so that choosing the data takes one bit.
  logic [CW-1:0] index;  // of the beat in its stream
  logic second, enable, valid, last;
  assign a_ready = enable && !second;
  assign b_ready = enable && second;
  assign valid = second ? b_valid : a_valid;
  assign last = index == (second ? CW'(B_BEATS - 1) : CW'(A_BEATS - 1));

  always_ff @(posedge clk) begin
    if (rst) begin
      index  <= '0;
      second <= 1'b0;
    end else if (valid && enable) begin
      index  <= last ? '0 : index + 1'b1;
      second <= second ^ last;
    end
  end

  mase_skid #(
      .W(W)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(valid),
      .in_ready(enable),
      .in_data(second ? b_data : a_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
