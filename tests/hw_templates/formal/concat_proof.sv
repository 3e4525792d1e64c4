// SPDX-License-Identifier: Apache-2.0
// concat is a queue filled in turns: A_BEATS of a, then B_BEATS of b, and no beat out of turn.
module concat_proof #(
    parameter int W = 1,
    parameter int A_BEATS = 2,
    parameter int B_BEATS = 1
) (
    input logic clk,
    input logic a_valid,
    input logic [W-1:0] a_data,
    input logic b_valid,
    input logic [W-1:0] b_data,
    input logic out_ready
);
  logic rst, a_ready, b_ready, out_valid, a_taken, b_taken;
  logic [W-1:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_concat #(
      .W(W),
      .A_BEATS(A_BEATS),
      .B_BEATS(B_BEATS)
  ) dut (
      .clk(clk),
      .rst(rst),
      .a_valid(a_valid),
      .a_ready(a_ready),
      .a_data(a_data),
      .b_valid(b_valid),
      .b_ready(b_ready),
      .b_data(b_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
  assign a_taken = a_valid && a_ready;
  assign b_taken = b_valid && b_ready;

  logic [7:0] turn;
  always_ff @(posedge clk) begin
    if (rst) turn <= '0;
    else if (a_taken || b_taken) turn <= (turn == 8'(A_BEATS + B_BEATS - 1)) ? '0 : turn + 8'd1;
  end
  always_comb begin
    if (!rst) begin
      assert (!(a_taken && b_taken));
      if (a_taken) assert (turn < 8'(A_BEATS));
      if (b_taken) assert (turn >= 8'(A_BEATS));
    end
  end
  queue_properties #(
      .W(W),
      .CAPACITY(2),
      .FULL(2)
  ) properties (
      .clk(clk),
      .rst(rst),
      .in_valid(a_taken || b_taken),
      .in_ready(a_ready || b_ready),
      .in_data(a_taken ? a_data : b_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
