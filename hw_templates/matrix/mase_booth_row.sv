// SPDX-License-Identifier: Apache-2.0
// mase_booth_row: sum_out = sum_in + digit * a - digit[2] + one_in, modulo 2^W, for one radix-4 Booth
// digit in {-2..2} given by the bits (w2, w1, w0) of -2*w2 + w1 + w0.
//
// A bit of the row is one function of the running sum, two neighbouring bits of a and the digit:
// six inputs, so one LUT6 in front of the carry chain. A negative digit adds ~x + 1 (the digit 111
// adds ~0 + 1): the 1 is left to whoever has a carry input free, and `one_in` is this row's. It
// enters from a bit below the chain, a carry position, but no LUT. Yosys fits the terms into these LUTs
// where they are subtracted, and makes two LUTs of most bits where they are added.
module mase_booth_row #(
    parameter int AW = 8,
    parameter int W  = 10
) (
    input  logic [AW-1:0] a,  // signed
    input  logic [2:0]    digit,
    input  logic [W-1:0]  sum_in,
    input  logic          one_in,
    output logic [W-1:0]  sum_out
);

  logic one, two;
  logic [W-1:0] term;

  always_comb begin
    one = digit[1] ^ digit[0];
    two = (digit[2] & ~digit[1] & ~digit[0]) | (~digit[2] & digit[1] & digit[0]);
    term = (({W{one}} & W'($signed(a))) | ({W{two}} & W'($signed({a, 1'b0})))) ^ {W{digit[2]}};
    sum_out = W'(({sum_in, one_in} - {~term, 1'b1}) >> 1);
  end

endmodule
