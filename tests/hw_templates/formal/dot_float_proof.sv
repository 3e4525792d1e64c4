// SPDX-License-Identifier: Apache-2.0
// The sum and the carry of mase_dot for short codes are the sum of the products of their numbers, LATENCY enabled cycles after
// any operands. mase_decode gives the numbers: see decode_proof.
module dot_float_proof #(
    parameter int SIMD = 2,
    parameter int AW = 4,
    parameter int AFLOAT = 1,
    parameter int AZERO = 1,
    parameter int AN = 5,
    parameter int WW = 4,
    parameter int WFLOAT = 1,
    parameter int WZERO = 1,
    parameter int WN = 5,
    parameter int TERM_STAGES = 0,
    parameter int W = 12,
    localparam int LATENCY = 1 + TERM_STAGES + ((SIMD > 8) ? 2 : (SIMD > 4) ? 1 : 0)
) (
    input logic clk,
    input logic enable,
    input logic [SIMD*AW-1:0] x,
    input logic [SIMD*WW-1:0] w
);
  logic [W-1:0] sum;
  logic carry;
  mase_dot #(
      .SIMD(SIMD),
      .AW(AW),
      .AFLOAT(AFLOAT),
      .AZERO(AZERO),
      .AN(AN),
      .WW(WW),
      .WFLOAT(WFLOAT),
      .WZERO(WZERO),
      .WN(WN),
      .TERM_STAGES(TERM_STAGES),
      .W(W),
      .MULTIPLIER(2)
  ) dut (
      .clk,
      .enable,
      .x,
      .w,
      .sum,
      .carry
  );
  logic [SIMD*AN-1:0] a;
  logic [SIMD*WN-1:0] b;
  for (genvar i = 0; i < SIMD; i++) begin : g_lane
    mase_decode #(
        .W(AW),
        .FLOAT(AFLOAT),
        .ZERO(AZERO),
        .OW(AN)
    ) decode_a (
        .code(x[i*AW+:AW]),
        .number(a[i*AN+:AN])
    );
    mase_decode #(
        .W(WW),
        .FLOAT(WFLOAT),
        .ZERO(WZERO),
        .OW(WN)
    ) decode_b (
        .code(w[i*WW+:WW]),
        .number(b[i*WN+:WN])
    );
  end
  logic [W-1:0] total;
  always_comb begin
    total = '0;
    for (int i = 0; i < SIMD; i++)
    total = total + W'($signed(a[i*AN+:AN])) * W'($signed(b[i*WN+:WN]));
  end
  logic [LATENCY*W-1:0] wanted;
  logic [LATENCY-1:0] filled;
  initial filled = '0;
  always_ff @(posedge clk)
    if (enable) begin
      wanted <= (LATENCY * W)'({wanted, total});
      filled <= LATENCY'({filled, 1'b1});
    end
  always_comb if (filled[LATENCY-1]) assert (W'(sum + W'(carry)) == wanted[(LATENCY-1)*W+:W]);
endmodule
