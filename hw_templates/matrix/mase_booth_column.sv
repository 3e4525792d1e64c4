// SPDX-License-Identifier: Apache-2.0
// mase_booth_column: sum + one = sum over lanes of digit[i] * a[i], for Booth digits of one weight 4^k.
// Chains of four rows, registered, then a tree of adders, registered after the odd levels and the
// last one (see mase_dot). Every adder takes one of the ones that negative digits need (mase_booth_row) as
// its carry; one is left, `one`. A sum of n rows without one of its ones lies in [-n * 2^AW, n *
// 2^AW - 1], so AW + 1 + log2(n) bits are enough; all is modulo 2^W.
module mase_booth_column #(
    parameter int SIMD = 8,
    parameter int AW   = 8,
    parameter int W    = 12
) (
    input  logic               clk,
    input  logic               enable,
    input  logic [SIMD*AW-1:0] a,  // signed lanes
    input  logic [SIMD*3-1:0]  digits,
    output logic [W-1:0]       sum,
    output logic               one
);

  localparam int CHAINS = (SIMD + 3) / 4;
  localparam int LEVELS = $clog2(CHAINS);

  function automatic int node_width(input int lanes);
    node_width = AW + 1 + $clog2((lanes < SIMD) ? lanes : SIMD);
    if (node_width > W) node_width = W;
  endfunction

  for (genvar l = 0; l <= LEVELS; l++) begin : g_merge
    localparam int NODES = (CHAINS + (1 << l) - 1) >> l;
    localparam int NW = node_width(4 << l);
    for (genvar j = 0; j < NODES; j++) begin : g_sum
      logic [NW-1:0] next, value;
      logic next_one, value_one;
      if (l == 0) begin : g_chain
        localparam int COUNT = (SIMD - 4 * j < 4) ? SIMD - 4 * j : 4;
        for (genvar i = 0; i < COUNT; i++) begin : g_link
          localparam int LANE = 4 * j + i;
          localparam int RW = node_width(i + 1);
          logic [RW-1:0] from, to;
          logic one_from;
          if (i == 0) begin : g_zero
            assign from = '0;
            assign one_from = 1'b0;
          end else begin : g_previous
            assign from = RW'($signed(g_link[i-1].to));
            assign one_from = digits[LANE*3-1];
          end
          mase_booth_row #(
              .AW(AW),
              .W(RW)
          ) row (
              .a(a[LANE*AW+:AW]),
              .digit(digits[LANE*3+:3]),
              .sum_in(from),
              .one_in(one_from),
              .sum_out(to)
          );
        end
        assign next = NW'($signed(g_link[COUNT-1].to));
        assign next_one = digits[(4*j+COUNT)*3-1];
      end else if (2 * j + 1 < ((CHAINS + (1 << (l - 1)) - 1) >> (l - 1))) begin : g_pair
        logic [NW-1:0] left, right;
        logic left_one;
        assign left = NW'($signed(g_merge[l-1].g_sum[2*j].value));
        assign right = NW'($signed(g_merge[l-1].g_sum[2*j+1].value));
        assign left_one = g_merge[l-1].g_sum[2*j].value_one;
        assign next = NW'(({left, left_one} + {right, left_one}) >> 1);
        assign next_one = g_merge[l-1].g_sum[2*j+1].value_one;
      end else begin : g_single
        assign next = NW'($signed(g_merge[l-1].g_sum[2*j].value));
        assign next_one = g_merge[l-1].g_sum[2*j].value_one;
      end
      if (l == 0 || l % 2 == 1 || l == LEVELS) begin : g_register
        always_ff @(posedge clk)
          if (enable) begin
            value <= next;
            value_one <= next_one;
          end
      end else begin : g_wire
        assign value = next;
        assign value_one = next_one;
      end
    end
  end

  assign sum = W'($signed(g_merge[LEVELS].g_sum[0].value));
  assign one = g_merge[LEVELS].g_sum[0].value_one;

endmodule
