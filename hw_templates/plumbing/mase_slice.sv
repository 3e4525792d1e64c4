// SPDX-License-Identifier: Apache-2.0
// Passes COUNT of every BEATS beats, from beat FIRST on, and drops the others.
module mase_slice #(
    parameter int W = 8,
    parameter int BEATS = 4,
    parameter int FIRST = 1,
    parameter int COUNT = 2
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
  localparam int CW = (BEATS > 1) ? $clog2(BEATS) : 1;
  localparam logic [CW-1:0] LAST = CW'(BEATS - 1);

  // An index below FIRST wraps around to at least 2^CW, which is no less than COUNT.
  logic [CW-1:0] index;
  logic [CW:0] distance;
  assign distance = {1'b0, index} - (CW + 1)'(FIRST);

  always_ff @(posedge clk) begin
    if (rst) index <= '0;
    else if (in_valid && in_ready) index <= (index == LAST) ? '0 : index + 1'b1;
  end

  mase_skid #(
      .W(W)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid && distance < (CW + 1)'(COUNT)),
      .in_ready(in_ready),
      .in_data(in_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
