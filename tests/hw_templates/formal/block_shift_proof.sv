// SPDX-License-Identifier: Apache-2.0
// Halves of elements over powers of two are rounded once, to the nearest and ties to even, in order and one at a time:
// found as the nearest whole number by its distance, without a shift to the right. To the left they are exact.
module block_shift_proof #(
    parameter int AW = 4,
    parameter int ASIGNED = 1,
    parameter int BW = 2,
    parameter int RIGHT = 1,
    parameter int PLACES = 0,
    parameter int OW = 3
) (
    input logic clk,
    input logic in_valid,
    input logic [AW-1:0] a,
    input logic [BW-1:0] b,
    input logic out_ready
);
  localparam int BEFORE = (PLACES < 0) ? -PLACES : 0;
  localparam int AFTER = (PLACES > 0) ? PLACES : 0;
  localparam int SIGN = (ASIGNED != 0) ? 0 : 1;
  localparam int ACCW = (RIGHT != 0) ? AW + SIGN + BEFORE + 1 : AW + SIGN + (1 << BW) - 1;
  localparam int W = (RIGHT != 0) ? OW : ACCW;
  localparam int LOW = -(1 << (W - 1));
  localparam int HIGH = (1 << (W - 1)) - 1;
  logic rst, a_ready, b_ready, out_valid;
  logic [W-1:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_block_shift #(
      .AW(AW),
      .ASIGNED(ASIGNED),
      .BW(BW),
      .RIGHT(RIGHT),
      .PLACES(PLACES),
      .ACCW(ACCW),
      .OW(W),
      .SHIFT((RIGHT != 0) ? 2 : 0),
      .LOW(64'(LOW)),
      .HIGH(64'(HIGH))
  ) dut (
      .clk(clk),
      .rst(rst),
      .a_valid(in_valid),
      .a_ready(a_ready),
      .a_data(a),
      .b_valid(in_valid),
      .b_ready(b_ready),
      .b_data(b),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
  always_comb assert (rst || a_ready == b_ready);

  // k is the rounded quotient where |2 n - 2 k d| < d, or = d for an even k, of n / d.
  logic signed [15:0] element, n, d, gap;
  logic [W-1:0] wanted;
  always_comb begin
    element = (ASIGNED != 0) ? 16'($signed(a)) : 16'(a);
    n = element * (16'sd1 <<< ((RIGHT != 0) ? BEFORE : 32'(b)));
    d = 16'sd1 <<< ((RIGHT != 0) ? 32'(b) + AFTER + 1 : 0);
    wanted = n > 16'sd0 ? W'(HIGH) : W'(LOW);  // where no k is near: saturated
    for (int k = LOW; k <= HIGH; k++) begin
      gap = 16'sd2 * n - 16'sd2 * 16'(k) * d;
      if (gap < 16'sd0) gap = -gap;
      if (gap < d || (gap == d && k % 2 == 0)) wanted = W'(k);
    end
  end
  queue_properties #(
      .W(W),
      .CAPACITY(7),
      .FULL(2),
      .LATENCY(4)
  ) properties (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(a_ready),
      .in_data(wanted),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
