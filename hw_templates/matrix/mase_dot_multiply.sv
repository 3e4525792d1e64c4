// SPDX-License-Identifier: Apache-2.0
// mase_dot_multiply: sum = sum over lanes of a[i] * b[i], modulo 2^W and sign extended, from the tool's
// multipliers (DSP blocks where it has them): chains of eight lanes, then a tree of adders with registers after
// each. When operands come, and registers: see mase_dot. PRODUCT_STAGES more registers are behind the sum.
module mase_dot_multiply #(
    parameter int SIMD = 8,
    parameter int AW = 8,
    parameter int BW = 6,
    parameter int W = 17,
    parameter int DSP = 0,  // 1 asks for DSP blocks
    parameter int COUNT = 1,  // codes of a lane of b, PITCH bits apart: see mase_pack
    parameter int PITCH = 0,
    parameter int PRODUCT_STAGES = 0
) (
    input  logic               clk,
    input  logic               enable,
    input  logic [SIMD*AW-1:0] a,  // signed lanes
    input  logic [SIMD*COUNT*BW-1:0] b,  // signed lanes
    output logic [W-1:0]       sum
);

  localparam int CHAINS = (SIMD + 7) / 8;
  localparam int LEVELS = $clog2(CHAINS);
  localparam int PACKED = (COUNT - 1) * PITCH + BW + ((COUNT > 1) ? 1 : 0);

  function automatic int node_width(input int lanes);
    node_width = AW + PACKED + $clog2((lanes < SIMD) ? lanes : SIMD);
    if (node_width > W) node_width = W;
  endfunction

  for (genvar l = 0; l <= LEVELS; l++) begin : g_add
    localparam int NODES = (CHAINS + (1 << l) - 1) >> l;
    localparam int NW = node_width(8 << l);
    for (genvar j = 0; j < NODES; j++) begin : g_total
      logic [NW-1:0] next, value;
      if (l == 0) begin : g_chain
        localparam int LANES = (SIMD - 8 * j < 8) ? SIMD - 8 * j : 8;
        mase_dot_chain #(
            .LANES(LANES),
            .AW(AW),
            .BW(BW),
            .W(NW),
            .DSP(DSP),
            .COUNT(COUNT),
            .PITCH(PITCH)
        ) chain (
            .clk,
            .enable,
            .a(a[8*j*AW+:LANES*AW]),
            .b(b[8*j*COUNT*BW+:LANES*COUNT*BW]),
            .sum(next)
        );
      end else if (2 * j + 1 < ((CHAINS + (1 << (l - 1)) - 1) >> (l - 1))) begin : g_pair
        assign next = NW'($signed(
            g_add[l-1].g_total[2*j].value
        )) + NW'($signed(
            g_add[l-1].g_total[2*j+1].value
        ));
      end else begin : g_single
        assign next = NW'($signed(g_add[l-1].g_total[2*j].value));
      end
      if (l > 0) begin : g_register
        always_ff @(posedge clk) if (enable) value <= next;
      end else begin : g_wire
        assign value = next;
      end
    end
  end

  localparam int TW = node_width(8 << LEVELS);
  logic [TW-1:0] total;
  mase_delay #(
      .W(TW),
      .STAGES(PRODUCT_STAGES)
  ) behind (
      .clk,
      .enable,
      .in(g_add[LEVELS].g_total[0].value),
      .out(total)
  );
  assign sum = W'($signed(total));

endmodule
