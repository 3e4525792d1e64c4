// SPDX-License-Identifier: Apache-2.0
// mase_dot_multiply for ECP5, whose DSP blocks do not add by themselves: all lanes at once, then a tree of adders with
// registers after each, in the cycles that the common file takes for one pair after another. With one, seven or more
// lanes a cycle is left for the way from the DSP blocks to the tree; PRODUCT_STAGES registers more are on it.
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

  localparam int STAGES = (SIMD < 8) ? (SIMD + 1) / 2 : 4 + $clog2((SIMD + 7) / 8);
  localparam int LEVELS = $clog2(SIMD);
  localparam int PACKED = (COUNT - 1) * PITCH + BW + ((COUNT > 1) ? 1 : 0);

  function automatic int node_width(input int level);
    node_width = AW + PACKED + level;
    if (node_width > W) node_width = W;
  endfunction

  for (genvar l = 0; l <= LEVELS; l++) begin : g_add
    localparam int NODES = (SIMD + (1 << l) - 1) >> l;
    localparam int NW = node_width(l);
    for (genvar j = 0; j < NODES; j++) begin : g_total
      logic [NW-1:0] next, value;
      if (l == 0) begin : g_product
        mase_multiply_stage #(
            .AW(AW),
            .BW(BW),
            .W(NW),
            .MULTIPLIER(DSP),
            .COUNT(COUNT),
            .PITCH(PITCH)
        ) unit (
            .clk,
            .enable,
            .a(a[j*AW+:AW]),
            .b(b[j*COUNT*BW+:COUNT*BW]),
            .product(next)
        );
      end else if (2 * j + 1 < ((SIMD + (1 << (l - 1)) - 1) >> (l - 1))) begin : g_pair
        assign next = NW'($signed(
            g_add[l-1].g_total[2*j].value
        )) + NW'($signed(
            g_add[l-1].g_total[2*j+1].value
        ));
      end else begin : g_single
        assign next = NW'($signed(g_add[l-1].g_total[2*j].value));
      end
      mase_delay #(
          .W(NW),
          .STAGES((l > 0) ? 1 : PRODUCT_STAGES + STAGES - LEVELS)
      ) registers (
          .clk,
          .enable,
          .in(next),
          .out(value)
      );
    end
  end

  assign sum = W'($signed(g_add[LEVELS].g_total[0].value));

endmodule
