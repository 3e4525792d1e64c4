// SPDX-License-Identifier: Apache-2.0
// Dot products that share multipliers are those of mase_dot, as many enabled cycles after any operands, and one more
// where what a field takes over is taken off behind a register.
module dot_packed_proof #(
    parameter int SIMD = 2,
    parameter int AW = 2,
    parameter int ASIGNED = 1,
    parameter int WW = 2,
    parameter int COUNT = 2,
    parameter int PITCH = 5,
    parameter int KNOWN = 0,
    parameter int W = 6
) (
    input logic clk,
    input logic enable,
    input logic [SIMD*AW-1:0] x,
    input logic [COUNT*SIMD*WW-1:0] w
);
  localparam int LATENCY = 6;  // the greatest, of four lanes
  logic [COUNT*W-1:0] sum, wanted, late;
  logic [COUNT-1:0] carry, unused_carry;
  mase_dot_packed #(
      .SIMD(SIMD),
      .AW(AW),
      .ASIGNED(ASIGNED),
      .WW(WW),
      .WSIGNED(1),
      .W(W),
      .COUNT(COUNT),
      .PITCH(PITCH),
      .KNOWN(KNOWN)
  ) dut (
      .clk,
      .enable,
      .x,
      .w,
      .sum,
      .carry
  );
  for (genvar f = 0; f < COUNT; f++) begin : g_output
    mase_dot #(
        .SIMD(SIMD),
        .AW(AW),
        .ASIGNED(ASIGNED),
        .WW(WW),
        .WSIGNED(1),
        .W(W)
    ) plain (
        .clk,
        .enable,
        .x,
        .w(w[f*SIMD*WW+:SIMD*WW]),
        .sum(wanted[f*W+:W]),
        .carry(unused_carry[f])
    );
  end
  always_ff @(posedge clk) if (enable) late <= wanted;

  logic [LATENCY-1:0] filled;
  initial filled = '0;
  always_ff @(posedge clk) if (enable) filled <= {filled[LATENCY-2:0], 1'b1};
  for (genvar f = 0; f < COUNT; f++) begin : g_check
    logic [W-1:0] here;
    assign here = sum[f*W+:W] + W'(carry[f]);
    always_comb
      if (filled[LATENCY-1]) assert (here == ((KNOWN > 1) ? late[f*W+:W] : wanted[f*W+:W]));
  end
endmodule
