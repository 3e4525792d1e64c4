// SPDX-License-Identifier: Apache-2.0
// mase_dot_float: sum + carry = sum over lanes of a[i] * b[i], modulo 2^W and sign extended, where b is a short code with BFLOAT
// bits of mantissa (see mase_float_parts; BZERO: whether it has zero, BN: bits of its numbers), and so is a, or with
// AFLOAT = -1 a signed number. No multiplier is inferred.
//
// Terms (mase_float_term) come STAGES cycles after the operands. Chains of four rows (mase_float_row), registered, then a tree of
// adders, registered after the odd levels and the last one. Every adder takes one of the ones that negative terms lack as its carry;
// one is left, `carry`. A sum of n terms without one of its ones lies in [-n * 2^(TERM-1), n * 2^(TERM-1) - 1].
module mase_dot_float #(
    parameter int SIMD = 8,
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int AFLOAT = 3,
    parameter int AZERO = 1,
    parameter int AN = 19,
    parameter int BW = 8,
    parameter int BSIGNED = 1,
    parameter int BFLOAT = 3,
    parameter int BZERO = 1,
    parameter int BN = 19,
    parameter int STAGES = 2,
    parameter int W = 40
) (
    input  logic               clk,
    input  logic               enable,
    input  logic [SIMD*AW-1:0] a,
    input  logic [SIMD*BW-1:0] b,
    output logic [W-1:0]       sum,
    output logic               carry
);

  // A code's bits above its mantissa, those of its significand, and how far its numbers shift this at most.
  function automatic int exponent_bits(input int bits, input int is_signed, input int mantissa);
    exponent_bits = bits - ((is_signed != 0) ? 1 : 0) - mantissa;
  endfunction
  function automatic int significand_bits(input int bits, input int is_signed, input int mantissa,
                                          input int zero);
    significand_bits = (exponent_bits(bits, is_signed, mantissa) > 0) ? mantissa + 1 : mantissa;
    if (zero == 0) significand_bits = 1;
  endfunction
  function automatic int most_shift(input int number, input int is_signed, input int significand);
    most_shift = number - ((is_signed != 0) ? 1 : 0) - significand;
    if (most_shift < 0) most_shift = 0;
  endfunction

  localparam int ABITS = (AFLOAT < 0) ? AW : significand_bits(AW, ASIGNED, AFLOAT, AZERO);
  localparam int BBITS = significand_bits(BW, BSIGNED, BFLOAT, BZERO);
  localparam int AEXPONENT = (AFLOAT < 0) ? 0 : exponent_bits(AW, ASIGNED, AFLOAT);
  localparam int BEXPONENT = exponent_bits(BW, BSIGNED, BFLOAT);
  localparam int AEBITS = (AEXPONENT > AZERO) ? AEXPONENT : 1;
  localparam int BEBITS = (BEXPONENT > BZERO) ? BEXPONENT : 1;
  localparam int ASHIFT = (AFLOAT >= 0 && AEXPONENT > AZERO) ? most_shift(AN, ASIGNED, ABITS) : 0;
  localparam int BSHIFT = (BEXPONENT > BZERO) ? most_shift(BN, BSIGNED, BBITS) : 0;
  // Two magnitudes of six bits together have a table of their products, which nothing shifts.
  localparam int AMAGNITUDE = AW - ((ASIGNED != 0) ? 1 : 0);
  localparam int BMAGNITUDE = BW - ((BSIGNED != 0) ? 1 : 0);
  localparam int TABLE = (AFLOAT >= 0 && ABITS > 1 && BBITS > 1 && AMAGNITUDE + BMAGNITUDE <= 6) ? 1 : 0;
  localparam int SHIFT = (TABLE != 0) ? 0 : ASHIFT + BSHIFT;
  localparam int OFFSETS = (TABLE != 0) ? 0 : ((AEXPONENT > 1) ? AZERO : 0) + ((BEXPONENT > 1) ? BZERO : 0);
  // Taking offsets off exponents pays where it saves a step of the shift.
  localparam int SBITS = $clog2(SHIFT + 1);
  localparam int LESS = ($clog2(SHIFT + OFFSETS + 1) > SBITS) ? 1 : 0;
  localparam int OFFSET = (LESS != 0) ? 0 : OFFSETS;
  localparam int STEP = (SBITS > 0) ? 1 << (SBITS - 1) : 0;
  // One bit times a number has as many bits as the number.
  localparam int BOTH = (ABITS == 1 || BBITS == 1) ? ABITS + BBITS - 1 : ABITS + BBITS;
  localparam int NUMBERS = ABITS + ASHIFT + BBITS + BSHIFT;
  localparam int ONE_NUMBER = (BBITS == 1) ? ABITS : ABITS + BBITS;
  localparam int PRODUCT = (TABLE != 0) ? NUMBERS + 1 : (AFLOAT >= 0) ? BOTH + 1 : ONE_NUMBER;
  localparam int TERM = PRODUCT + SHIFT;
  localparam int BEFORE = PRODUCT + ((SBITS > 1) ? STEP - 1 : 0);
  localparam int LW = (BEFORE < TERM + OFFSET) ? BEFORE : TERM + OFFSET;

  localparam int CHAINS = (SIMD + 3) / 4;
  localparam int LEVELS = $clog2(CHAINS);

  localparam int MOST = (TERM > W) ? TERM : W;
  function automatic int node_width(input int lanes);
    node_width = TERM + $clog2((lanes < SIMD) ? lanes : SIMD);
    if (node_width > MOST) node_width = MOST;
  endfunction

  logic [SIMD-1:0] negative;
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
          logic [LW-1:0] low;
          logic last;
          logic [RW-1:0] from, to;
          logic one_from;
          if (i == 0) begin : g_zero
            assign from = '0;
            assign one_from = 1'b0;
          end else begin : g_previous
            assign from = RW'($signed(g_link[i-1].to));
            assign one_from = negative[LANE-1];
          end
          mase_float_term #(
              .AW(AW),
              .ASIGNED(ASIGNED),
              .AFLOAT(AFLOAT),
              .AZERO(AZERO),
              .ABITS(ABITS),
              .AEBITS(AEBITS),
              .BW(BW),
              .BSIGNED(BSIGNED),
              .BFLOAT(BFLOAT),
              .BZERO(BZERO),
              .BBITS(BBITS),
              .BEBITS(BEBITS),
              .TABLE(TABLE),
              .PRODUCT(PRODUCT),
              .SBITS(SBITS),
              .LW(LW),
              .LESS(LESS),
              .STAGES(STAGES)
          ) term (
              .clk,
              .enable,
              .a(a[LANE*AW+:AW]),
              .b(b[LANE*BW+:BW]),
              .low,
              .last,
              .negative(negative[LANE])
          );
          mase_float_row #(
              .LW(LW),
              .STEP(STEP),
              .OFFSET(OFFSET),
              .TERM(TERM),
              .W(RW)
          ) row (
              .low,
              .last,
              .negative(negative[LANE]),
              .sum_in(from),
              .one_in(one_from),
              .sum_out(to)
          );
        end
        assign next = NW'($signed(g_link[COUNT-1].to));
        assign next_one = negative[4*j+COUNT-1];
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

  localparam int TOTAL = node_width(SIMD);
  if (TOTAL <= W) begin : g_extend
    assign sum = W'($signed(g_merge[LEVELS].g_sum[0].value));
  end else begin : g_cut
    logic [TOTAL-W-1:0] unused_bits;
    assign {unused_bits, sum} = g_merge[LEVELS].g_sum[0].value;
  end
  assign carry = g_merge[LEVELS].g_sum[0].value_one;

endmodule
