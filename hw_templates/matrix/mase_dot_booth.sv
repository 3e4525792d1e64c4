// SPDX-License-Identifier: Apache-2.0
// mase_dot_booth: sum + carry = sum over lanes of a[i] * b[i], modulo 2^W and sign extended, from rows
// of Booth digits in LUTs and carry chains; no multiplier is inferred. b gives the digits. W is at
// least BW.
//
// Lanes are added digit by digit: T[k] = sum_i digit[i][k] * a[i], then sum_k 4^k * T[k]. So rows
// are as narrow as a, and only the last adders see the whole width. `carry` is the one of weight 1
// that the accumulator's adder takes (see mase_booth_column).
module mase_dot_booth #(
    parameter int SIMD = 8,
    parameter int AW   = 8,
    parameter int BW   = 6,
    parameter int W    = 17
) (
    input  logic               clk,
    input  logic               enable,
    input  logic [SIMD*AW-1:0] a,  // signed lanes
    input  logic [SIMD*BW-1:0] b,  // signed lanes
    output logic [W-1:0]       sum,
    output logic               carry
);

  localparam int K = (BW + 1) / 2;
  localparam int LEVELS = $clog2(K);

  // Bits of digits k .. k + count - 1 together, in units of 4^k. The last one is for the product of
  // two least codes; of a single digit the missing one keeps it away.
  function automatic int node_width(input int k, input int count);
    node_width = AW + 2 * count - ((count == 1) ? 1 : 0) + $clog2(SIMD);
    if (node_width > W - 2 * k) node_width = W - 2 * k;
  endfunction

  for (genvar l = 0; l <= LEVELS; l++) begin : g_step
    localparam int NODES = (K + (1 << l) - 1) >> l;
    for (genvar j = 0; j < NODES; j++) begin : g_part
      localparam int FROM = j << l;
      localparam int NW = node_width(FROM, (K - FROM < (1 << l)) ? K - FROM : 1 << l);
      logic [NW-1:0] value;
      logic one;
      if (l == 0) begin : g_column
        logic [SIMD*3-1:0] digits;
        for (genvar i = 0; i < SIMD; i++) begin : g_digit
          localparam int HIGH = (2 * j + 1 < BW) ? 2 * j + 1 : BW - 1;
          if (j == 0) begin : g_lowest
            assign digits[3*i+:3] = {b[i*BW+HIGH], b[i*BW], 1'b0};
          end else begin : g_other
            assign digits[3*i+:3] = {b[i*BW+HIGH], b[i*BW+2*j], b[i*BW+2*j-1]};
          end
        end
        mase_booth_column #(
            .SIMD(SIMD),
            .AW(AW),
            .W(NW)
        ) column (
            .clk,
            .enable,
            .a,
            .digits,
            .sum(value),
            .one
        );
      end else if (2 * j + 1 < ((K + (1 << (l - 1)) - 1) >> (l - 1))) begin : g_pair
        // The low bits of the lower part pass; the ones of the higher part enter above them.
        localparam int SHIFT = 2 << (l - 1);
        logic [NW-1:0] low;
        assign low = NW'($signed(g_step[l-1].g_part[2*j].value));
        assign one = g_step[l-1].g_part[2*j].one;
        localparam int HW = NW - SHIFT;
        logic [HW-1:0] high;
        logic high_one;
        assign high = HW'($signed(g_step[l-1].g_part[2*j+1].value));
        assign high_one = g_step[l-1].g_part[2*j+1].one;
        assign value[SHIFT-1:0] = low[SHIFT-1:0];
        assign value[NW-1:SHIFT] = HW'(({low[NW-1:SHIFT], high_one} + {high, high_one}) >> 1);
      end else begin : g_single
        assign value = NW'($signed(g_step[l-1].g_part[2*j].value));
        assign one = g_step[l-1].g_part[2*j].one;
      end
    end
  end

  always_ff @(posedge clk)
    if (enable) begin
      sum <= W'($signed(g_step[LEVELS].g_part[0].value));
      carry <= g_step[LEVELS].g_part[0].one;
    end

endmodule
