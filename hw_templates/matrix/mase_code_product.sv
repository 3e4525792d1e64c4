// SPDX-License-Identifier: Apache-2.0
// mase_code_product: the product of the numbers of two magnitudes of short codes (see mase_float_parts), both with zero,
// combinational, in W bits. AFLOAT and BFLOAT are their mantissas' bits. Every bit is a table: one LUT6 where both magnitudes
// have six bits together.
module mase_code_product #(
    parameter int AW = 3,
    parameter int AFLOAT = 1,
    parameter int BW = 3,
    parameter int BFLOAT = 1,
    parameter int W = 8
) (
    input  logic [AW-1:0] a,
    input  logic [BW-1:0] b,
    output logic [ W-1:0] product
);

  localparam int PAIRS = 1 << (AW + BW);

  function automatic int number(input int magnitude, input int mantissa);
    int exponent;
    exponent = magnitude >> mantissa;
    number = magnitude;
    if (exponent > 1) number = (magnitude - ((exponent - 1) << mantissa)) << (exponent - 1);
  endfunction

  function automatic logic [PAIRS-1:0] all_bits(input int place);
    for (int pair = 0; pair < PAIRS; pair++)
    all_bits[pair] = ((number(pair % (1 << AW), AFLOAT) * number(pair >> AW, BFLOAT)) >> place) %
        2 != 0;
  endfunction

  for (genvar i = 0; i < W; i++) begin : g_bit
    localparam logic [PAIRS-1:0] BITS = all_bits(i);
    assign product[i] = BITS[{b, a}];
  end

endmodule
