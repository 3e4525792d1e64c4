// SPDX-License-Identifier: Apache-2.0
// mase_multiply_stage: product = a * b, modulo 2^W, with registers for the operands and for the product, which a
// DSP block has itself: the product of the operands of two enabled cycles ago.
module mase_multiply_stage #(
    parameter int AW  = 8,
    parameter int BW  = 6,
    parameter int W   = 14,
    parameter int DSP = 0    // 1 asks for DSP blocks
) (
    input  logic          clk,
    input  logic          enable,
    input  logic [AW-1:0] a,       // signed
    input  logic [BW-1:0] b,       // signed
    output logic [ W-1:0] product
);

  logic [AW-1:0] a_kept;
  logic [BW-1:0] b_kept;
  logic [W-1:0] next;
  mase_multiply #(
      .AW(AW),
      .ASIGNED(1),
      .BW(BW),
      .BSIGNED(1),
      .W(W),
      .MULTIPLIER(DSP)
  ) unit (
      .a(a_kept),
      .b(b_kept),
      .product(next)
  );
  always_ff @(posedge clk)
    if (enable) begin
      a_kept  <= a;
      b_kept  <= b;
      product <= next;
    end

endmodule
