// SPDX-License-Identifier: Apache-2.0
// mase_dot_chain: sum = start + sum over lanes of a[i] * b[i], modulo 2^W, from the tool's multipliers
// in two stages: products, then their sum with the start value of that stage. Added one after
// another, so that each addition fits behind the multiplier inside a DSP block.
module mase_dot_chain #(
    parameter int LANES = 4,
    parameter int AW = 8,
    parameter int BW = 6,
    parameter int W = 16,
    parameter int DSP = 0  // 1 asks for DSP blocks
) (
    input  logic                clk,
    input  logic                enable,
    input  logic [LANES*AW-1:0] a,      // signed lanes
    input  logic [LANES*BW-1:0] b,      // signed lanes
    input  logic [W-1:0]        start,
    output logic [W-1:0]        sum
);

  localparam int PW = (AW + BW < W) ? AW + BW : W;

  for (genvar i = 0; i < LANES; i++) begin : g_term
    logic [PW-1:0] next, kept;
    logic [W-1:0] total;
    mase_multiply #(
        .AW(AW),
        .ASIGNED(1),
        .BW(BW),
        .BSIGNED(1),
        .W(PW),
        .MULTIPLIER(DSP)
    ) unit (
        .a(a[i*AW+:AW]),
        .b(b[i*BW+:BW]),
        .product(next)
    );
    always_ff @(posedge clk) if (enable) kept <= next;
    if (i == 0) begin : g_start
      assign total = start + W'($signed(kept));
    end else begin : g_next
      assign total = g_term[i-1].total + W'($signed(kept));
    end
  end

  always_ff @(posedge clk) if (enable) sum <= g_term[LANES-1].total;

endmodule
