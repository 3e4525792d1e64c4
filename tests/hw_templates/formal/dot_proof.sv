// SPDX-License-Identifier: Apache-2.0
// The ECP5's own dot product gives what the common one gives, as many enabled cycles after any operands.
module dot_proof #(
    parameter int SIMD = 3,
    parameter int AW = 2,
    parameter int BW = 2,
    parameter int W = 6,
    parameter int PRODUCT_STAGES = 0
) (
    input logic clk,
    input logic enable,
    input logic [SIMD*AW-1:0] a,
    input logic [SIMD*BW-1:0] b
);
  localparam int LATENCY = 6 + $clog2((SIMD + 7) / 8) + PRODUCT_STAGES;  // the greatest
  logic [SIMD*AW-1:0] late_a, together_a;
  logic [SIMD*BW-1:0] late_b, together_b;
  logic [W-1:0] sum, wanted;
  mase_dot_skew #(
      .SIMD(SIMD),
      .W(AW)
  ) skew_a (
      .clk,
      .rst(1'b0),
      .enable,
      .in(a),
      .out(late_a)
  );
  mase_dot_skew #(
      .SIMD(SIMD),
      .W(BW)
  ) skew_b (
      .clk,
      .rst(1'b0),
      .enable,
      .in(b),
      .out(late_b)
  );
  mase_dot_multiply #(
      .SIMD(SIMD),
      .AW(AW),
      .BW(BW),
      .W(W),
      .PRODUCT_STAGES(PRODUCT_STAGES)
  ) common (
      .clk,
      .enable,
      .a(late_a),
      .b(late_b),
      .sum(wanted)
  );
  ecp5_mase_dot_skew #(
      .SIMD(SIMD),
      .W(AW)
  ) own_skew_a (
      .clk,
      .rst(1'b0),
      .enable,
      .in(a),
      .out(together_a)
  );
  ecp5_mase_dot_skew #(
      .SIMD(SIMD),
      .W(BW)
  ) own_skew_b (
      .clk,
      .rst(1'b0),
      .enable,
      .in(b),
      .out(together_b)
  );
  ecp5_mase_dot_multiply #(
      .SIMD(SIMD),
      .AW(AW),
      .BW(BW),
      .W(W),
      .PRODUCT_STAGES(PRODUCT_STAGES)
  ) dut (
      .clk,
      .enable,
      .a(together_a),
      .b(together_b),
      .sum
  );
  logic [LATENCY-1:0] filled;
  initial filled = '0;
  always_ff @(posedge clk) if (enable) filled <= {filled[LATENCY-2:0], 1'b1};
  always_comb if (filled[LATENCY-1]) assert (sum == wanted);
endmodule
