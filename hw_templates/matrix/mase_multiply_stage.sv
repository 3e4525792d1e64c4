// SPDX-License-Identifier: Apache-2.0
// mase_multiply_stage: mase_multiply with registers for the operands and for the product, which a DSP block
// has itself: the product of the operands of two enabled cycles ago.
module mase_multiply_stage #(
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int BW = 6,
    parameter int BSIGNED = 1,
    parameter int W = 14,
    parameter int MULTIPLIER = 0
) (
    input  logic          clk,
    input  logic          enable,
    input  logic [AW-1:0] a,
    input  logic [BW-1:0] b,
    output logic [ W-1:0] product  // signed
);

  logic [AW-1:0] a_kept;
  logic [BW-1:0] b_kept;
  logic [W-1:0] next;
  mase_multiply #(
      .AW(AW),
      .ASIGNED(ASIGNED),
      .BW(BW),
      .BSIGNED(BSIGNED),
      .W(W),
      .MULTIPLIER(MULTIPLIER)
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
