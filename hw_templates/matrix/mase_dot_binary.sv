// SPDX-License-Identifier: Apache-2.0
// mase_dot_binary: sum + carry = sum over lanes of a[i] * b[i], modulo 2^W and sign extended, for bits that stand for 1 (0) and
// -1 (1): twice the number of lanes whose bits are equal, less the number of lanes. As many registers as in mase_dot_float.
//
// Seven of eight lanes are counted. The eighth is left to an adder, which takes it as its carry; one lane is left in the end.
// As it counts twice it is the lowest bit of `sum`, and `carry`. Lanes that are not there, to a power of two, are
// equal in half of the cases, so that the number of lanes is taken off by inverting the highest bit.
module mase_dot_binary #(
    parameter int SIMD = 8,
    parameter int STAGES = 0,
    parameter int W = 5
) (
    input  logic            clk,
    input  logic            enable,
    input  logic [SIMD-1:0] a,
    input  logic [SIMD-1:0] b,
    output logic [W-1:0]    sum,
    output logic            carry
);

  localparam int LEAVES = (SIMD > 8) ? 1 << $clog2((SIMD + 7) / 8) : 1;
  localparam int LEVELS = $clog2(LEAVES);
  localparam int ALL = 8 * LEAVES;
  localparam int EQUAL = (ALL - SIMD) / 2;  // of the lanes that are not there
  localparam int ODD = SIMD % 2;
  localparam int QW = 3 + LEVELS;
  localparam int SW = (QW + 1 > W) ? QW + 1 : W;

  logic [ALL-1:0] same;
  for (genvar i = 0; i < ALL; i++) begin : g_lane
    if (i < SIMD) begin : g_real
      assign same[i] = ~(a[i] ^ b[i]);
    end else begin : g_none
      assign same[i] = i < SIMD + EQUAL;
    end
  end

  // Two full adders count three lanes each; their bits and the seventh lane's operands are one LUT6 for each bit
  // of the count.
  function automatic logic [1:0] three(input logic [2:0] bits);
    three = {(bits[0] & bits[1]) | (bits[2] & (bits[0] | bits[1])), bits[0] ^ bits[1] ^ bits[2]};
  endfunction
  function automatic logic [31:0] table_of(input int place);
    for (int i = 0; i < 32; i++) table_of[i] = 1'(((i % 4) + (i / 4 % 4) + i / 16) >> place);
  endfunction
  localparam logic [31:0] LOW = table_of(0);
  localparam logic [31:0] MIDDLE = table_of(1);
  localparam logic [31:0] HIGH = table_of(2);

  for (genvar l = 0; l <= LEVELS; l++) begin : g_merge
    localparam int NW = 3 + l;
    for (genvar j = 0; j < LEAVES >> l; j++) begin : g_sum
      logic [NW-1:0] count, next, value;
      logic next_one, value_one;
      if (l == 0) begin : g_count
        logic [4:0] counted;
        assign counted = {same[8*j+6], three(same[8*j+3+:3]), three(same[8*j+:3])};
        assign count = {HIGH[counted], MIDDLE[counted], LOW[counted]};
        assign next_one = same[8*j+7];
      end else begin : g_pair
        logic left_one;
        assign left_one = g_merge[l-1].g_sum[2*j].value_one;
        assign count = NW'(({1'b0, g_merge[l-1].g_sum[2*j].value, left_one}
            + {1'b0, g_merge[l-1].g_sum[2*j+1].value, left_one}) >> 1);
        assign next_one = g_merge[l-1].g_sum[2*j+1].value_one;
      end
      // The number of lanes is taken off in front of the last register.
      assign next = (l == LEVELS) ? {~count[NW-1], count[NW-2:0]} : count;
      if (l % 2 == 0 || l == LEVELS) begin : g_register
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

  logic [QW-1:0] rest;
  logic one;
  mase_delay #(
      .W(QW + 1),
      .STAGES(STAGES + ((SIMD > 4) ? 1 : 0))
  ) behind (
      .clk,
      .enable,
      .in({g_merge[LEVELS].g_sum[0].value, g_merge[LEVELS].g_sum[0].value_one}),
      .out({rest, one})
  );

  // An odd number of lanes leaves half a lane, which is one.
  logic [SW-1:0] total;
  assign total = SW'($signed({rest, (ODD != 0) ? 1'b1 : one}));
  assign carry = (ODD != 0) ? 1'b0 : one;
  if (SW > W) begin : g_cut
    logic [SW-W-1:0] unused_bits;
    assign {unused_bits, sum} = total;
  end else begin : g_whole
    assign sum = total;
  end

endmodule
