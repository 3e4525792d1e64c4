// SPDX-License-Identifier: Apache-2.0
// Quotients are the real ones rounded once, to the nearest and halves to even, in order and one at a time: found as the
// nearest whole number by its distance, without a division.
module divide_proof #(
    parameter int AW = 2,
    parameter int ASIGNED = 1,
    parameter int ASHIFT = 2,
    parameter int BW = 2,
    parameter int BSIGNED = 1,
    parameter int BSHIFT = 0,
    parameter int QW = 2,
    parameter int OW = 2
) (
    input logic clk,
    input logic in_valid,
    input logic [AW-1:0] a,
    input logic [BW-1:0] b,
    input logic out_ready
);
  localparam int LOW = -(1 << (OW - 1));
  localparam int HIGH = (1 << (OW - 1)) - 1;
  logic rst, a_ready, b_ready, out_valid;
  logic [OW-1:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_divide #(
      .AW(AW),
      .ASIGNED(ASIGNED),
      .ASHIFT(ASHIFT),
      .BW(BW),
      .BSIGNED(BSIGNED),
      .BSHIFT(BSHIFT),
      .QW(QW),
      .OW(OW),
      .SHIFT(2),
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

  // k is the rounded quotient where |2 n - 2 k d| < d, or = d for an even k, of n / d with d > 0. SHIFT is 1 for
  // the bit of the remainder and 1 more, which halves the quotient.
  logic signed [15:0] n, d, gap;
  logic [OW-1:0] wanted;
  always_comb begin
    n = (ASIGNED != 0 ? 16'($signed(a)) : 16'(a)) <<< ASHIFT;
    d = (BSIGNED != 0 ? 16'($signed(b)) : 16'(b)) <<< BSHIFT + 1;
    if (d < 16'sd0) begin
      n = -n;
      d = -d;
    end
    wanted = n > 16'sd0 ? OW'(HIGH) : n < 16'sd0 ? OW'(LOW) : '0;  // where no k is near: saturated
    for (int k = LOW; k <= HIGH; k++) begin
      gap = 16'sd2 * n - 16'sd2 * 16'(k) * d;
      if (gap < 16'sd0) gap = -gap;
      if (gap < d || (gap == d && k % 2 == 0)) wanted = OW'(k);
    end
    if (d == '0 && n == '0) wanted = '0;
  end
  queue_properties #(
      .W(OW),
      .CAPACITY(QW + 7),
      .FULL(2),
      .LATENCY(QW + 4)
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
