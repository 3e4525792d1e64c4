// SPDX-License-Identifier: Apache-2.0
// mase_float_term: the product of a short code b (see mase_float_parts) and of another one, or with AFLOAT = -1 of a signed
// number a, as mase_float_row wants it: (low << (last ? STEP : 0)) >> OFFSET, negated if it is negative. Exponents are added up,
// and the product of the significands is shifted by their sum, all but its highest bit; a TABLE gives the product of the numbers
// of two magnitudes instead. STAGES enabled cycles after the operands: a register is behind the shift or the table, and with
// STAGES = 2 one is behind the product, or in front of the table.
// mase_dot_float derives all parameters.
module mase_float_term #(
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int AFLOAT = 3,
    parameter int AZERO = 1,
    parameter int ABITS = 4,
    parameter int AEBITS = 4,
    parameter int BW = 8,
    parameter int BSIGNED = 1,
    parameter int BFLOAT = 3,
    parameter int BZERO = 1,
    parameter int BBITS = 4,
    parameter int BEBITS = 4,
    parameter int TABLE = 0,  // the product of the numbers is a table: see mase_code_product
    parameter int PRODUCT = 9,  // bits of the product of the significands, or of that of the numbers, signed
    parameter int SBITS = 5,  // bits of the sum of exponents; 0: nothing is shifted
    parameter int LW = 23,
    parameter int LESS = 0,  // see mase_float_parts
    parameter int STAGES = 0
) (
    input  logic          clk,
    input  logic          enable,
    input  logic [AW-1:0] a,
    input  logic [BW-1:0] b,
    output logic [LW-1:0] low,
    output logic          last,
    output logic          negative
);

  localparam int EB = (SBITS > 0) ? SBITS : 1;

  logic b_negative;
  logic [BBITS-1:0] b_significand;
  logic [BEBITS-1:0] b_exponent;
  mase_float_parts #(
      .W(BW),
      .SIGNED(BSIGNED),
      .FLOAT(BFLOAT),
      .ZERO(BZERO),
      .BITS(BBITS),
      .EBITS(BEBITS),
      .LESS(LESS)
  ) b_parts (
      .code(b),
      .negative(b_negative),
      .significand(b_significand),
      .exponent(b_exponent)
  );

  // Codes that occur have no ones above these bits, but for zero, whose exponent says nothing.
  logic [EB-1:0] b_shift;
  if (BEBITS > EB) begin : g_unused
    logic [BEBITS-EB-1:0] unused_bits;
    assign {unused_bits, b_shift} = b_exponent;
  end else begin : g_used
    assign b_shift = EB'(b_exponent);
  end

  // Magnitudes of a TABLE's codes, or the product of significands.
  localparam int AM = AW - ((ASIGNED != 0) ? 1 : 0);
  localparam int BM = BW - ((BSIGNED != 0) ? 1 : 0);
  localparam int FACTORS = (TABLE != 0) ? AM + BM : PRODUCT;
  logic [FACTORS-1:0] next_factors, factors;
  logic [PRODUCT-1:0] product;
  logic [EB-1:0] next_exponent, exponent;
  logic next_negative, product_negative;

  if (AFLOAT < 0) begin : g_number
    assign next_negative = b_negative;
    assign next_exponent = b_shift;
    if (BBITS == 1) begin : g_mask
      assign next_factors = a & {AW{b_significand}};
    end else begin : g_rows
      mase_multiply #(
          .AW(AW),
          .BW(BBITS),
          .BSIGNED(0),
          .MULTIPLIER(2)
      ) rows (
          .a,
          .b(b_significand),
          .product(next_factors)
      );
    end
  end else begin : g_code
    logic a_negative;
    logic [ABITS-1:0] a_significand;
    logic [AEBITS-1:0] a_exponent;
    logic [EB-1:0] a_shift;
    if (AEBITS > EB) begin : g_unused
      logic [AEBITS-EB-1:0] unused_bits;
      assign {unused_bits, a_shift} = a_exponent;
    end else begin : g_used
      assign a_shift = EB'(a_exponent);
    end
    mase_float_parts #(
        .W(AW),
        .SIGNED(ASIGNED),
        .FLOAT(AFLOAT),
        .ZERO(AZERO),
        .BITS(ABITS),
        .EBITS(AEBITS),
        .LESS(LESS)
    ) a_parts (
        .code(a),
        .negative(a_negative),
        .significand(a_significand),
        .exponent(a_exponent)
    );
    // Adders of so few bits are better without carry chains, which tools would make of +.
    function automatic logic [EB-1:0] exponent_sum(input logic [EB-1:0] left,
                                                   input logic [EB-1:0] right);
      logic over;
      over = 1'b0;
      for (int i = 0; i < EB; i++) begin
        exponent_sum[i] = left[i] ^ right[i] ^ over;
        over = (left[i] & right[i]) | (over & (left[i] | right[i]));
      end
    endfunction
    assign next_negative = a_negative ^ b_negative;
    if (TABLE != 0) begin : g_table
      logic unused_parts;
      assign unused_parts  = ^{a_significand, a_shift, b_significand, b_shift};
      assign next_exponent = '0;
      assign next_factors  = {b[BM-1:0] ^ {BM{b_negative}}, a[AM-1:0] ^ {AM{a_negative}}};
    end else begin : g_significands
      assign next_exponent = exponent_sum(a_shift, b_shift);
      assign next_factors[PRODUCT-1] = 1'b0;
      mase_significands #(
          .AW(ABITS),
          .BW(BBITS)
      ) significands (
          .a(a_significand),
          .b(b_significand),
          .product(next_factors[PRODUCT-2:0])
      );
    end
  end

  mase_delay #(
      .W(FACTORS + EB + 1),
      .STAGES((STAGES > 1) ? 1 : 0)
  ) behind_product (
      .clk,
      .enable,
      .in({next_factors, next_exponent, next_negative}),
      .out({factors, exponent, product_negative})
  );
  if (TABLE != 0) begin : g_product
    assign product[PRODUCT-1] = 1'b0;
    mase_code_product #(
        .AW(AM),
        .AFLOAT(AFLOAT),
        .BW(BM),
        .BFLOAT(BFLOAT),
        .W(PRODUCT - 1)
    ) numbers (
        .a(factors[AM-1:0]),
        .b(factors[FACTORS-1:AM]),
        .product(product[PRODUCT-2:0])
    );
  end else begin : g_known
    assign product = factors;
  end

  // Four-way choices, behind a two-way one where the number of bits is odd.
  logic [LW-1:0] shifted;
  localparam int FIRST = (SBITS > 0) ? (SBITS - 1) % 2 : 0;
  localparam int STEPS = (SBITS > 0) ? (SBITS - 1) / 2 : 0;
  for (genvar s = 0; s <= STEPS; s++) begin : g_shift
    logic [LW-1:0] value;
    if (s == 0) begin : g_two
      logic [LW-1:0] whole;
      assign whole = LW'($signed(product));
      assign value = (FIRST != 0 && exponent[0]) ? whole << 1 : whole;
    end else begin : g_four
      localparam int AT = FIRST + 2 * (s - 1);
      logic [LW-1:0] from, low_pair, high_pair;
      assign from = g_shift[s-1].value;
      assign low_pair = exponent[AT] ? from << (1 << AT) : from;
      assign high_pair = exponent[AT] ? from << (3 << AT) : from << (2 << AT);
      assign value = exponent[AT+1] ? high_pair : low_pair;
    end
  end
  assign shifted = g_shift[STEPS].value;

  mase_delay #(
      .W(LW + 2),
      .STAGES((STAGES > 0) ? 1 : 0)
  ) behind_shift (
      .clk,
      .enable,
      .in({shifted, (SBITS > 0) && exponent[EB-1], product_negative}),
      .out({low, last, negative})
  );

endmodule
