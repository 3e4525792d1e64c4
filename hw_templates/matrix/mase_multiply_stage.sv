// SPDX-License-Identifier: Apache-2.0
// mase_multiply_stage: mase_multiply with registers for the operands and for the product, which a DSP block
// has itself: the product of the operands of two enabled cycles ago.
module mase_multiply_stage #(
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int BW = 6,
    parameter int BSIGNED = 1,
    parameter int W = 14,
    parameter int MULTIPLIER = 0,
    parameter int COUNT = 1,  // codes of b, PITCH bits apart: see mase_pack
    parameter int PITCH = 0
) (
    input  logic          clk,
    input  logic          enable,
    input  logic [AW-1:0] a,
    input  logic [COUNT*BW-1:0] b,
    output logic [ W-1:0] product  // signed
);

  logic [AW-1:0] a_kept;
  localparam int PACKED = (COUNT - 1) * PITCH + BW + ((COUNT > 1) ? 1 : 0);
  logic [COUNT*BW-1:0] b_kept;
  logic [PACKED-1:0] packed_b;
  logic [W-1:0] next;
  mase_pack #(
      .COUNT(COUNT),
      .W(BW),
      .PITCH(PITCH)
  ) pack (
      .in(b_kept),
      .out(packed_b)
  );
  mase_multiply #(
      .AW(AW),
      .ASIGNED(ASIGNED),
      .BW(PACKED),
      .BSIGNED(BSIGNED),
      .W(W),
      .MULTIPLIER(MULTIPLIER)
  ) unit (
      .a(a_kept),
      .b(packed_b),
      .product(next)
  );
  always_ff @(posedge clk)
    if (enable) begin
      a_kept  <= a;
      b_kept  <= b;
      product <= next;
    end

endmodule
