// SPDX-License-Identifier: Apache-2.0
// mase_dot_chain: sum = sum over lanes of a[i] * b[i], modulo 2^W, from the tool's multipliers: operands, products, then
// a stage for every pair of lanes, which adds both to what the pairs before gave. The operands of lane i come
// i / 2 enabled cycles after those of lane 0. So each addition fits behind its multiplier inside a DSP block, and
// no more than two of them follow each other between registers.
module mase_dot_chain #(
    parameter int LANES = 4,
    parameter int AW = 8,
    parameter int BW = 6,
    parameter int W = 16,
    parameter int DSP = 0,  // 1 asks for DSP blocks
    parameter int COUNT = 1,
    parameter int PITCH = 0
) (
    input  logic                clk,
    input  logic                enable,
    input  logic [LANES*AW-1:0] a,      // signed lanes
    input  logic [LANES*COUNT*BW-1:0] b,  // signed lanes
    output logic [W-1:0]        sum
);

  localparam int PACKED = (COUNT - 1) * PITCH + BW + ((COUNT > 1) ? 1 : 0);
  localparam int PW = (AW + PACKED < W) ? AW + PACKED : W;

  for (genvar i = 0; i < LANES; i++) begin : g_term
    logic [PW-1:0] kept;
    logic [W-1:0] total;
    mase_multiply_stage #(
        .AW(AW),
        .BW(BW),
        .W(PW),
        .MULTIPLIER(DSP),
        .COUNT(COUNT),
        .PITCH(PITCH)
    ) unit (
        .clk,
        .enable,
        .a(a[i*AW+:AW]),
        .b(b[i*COUNT*BW+:COUNT*BW]),
        .product(kept)
    );
    if (i == 0) begin : g_start
      assign total = W'($signed(kept));
    end else if (i % 2 == 0) begin : g_next_pair
      assign total = g_term[i-1].g_register.sums + W'($signed(kept));
    end else begin : g_second
      assign total = g_term[i-1].total + W'($signed(kept));
    end
    if (i % 2 == 1 || i == LANES - 1) begin : g_register
      logic [W-1:0] sums;
      always_ff @(posedge clk) if (enable) sums <= total;
    end
  end

  assign sum = g_term[LANES-1].g_register.sums;

endmodule
