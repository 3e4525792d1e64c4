// SPDX-License-Identifier: Apache-2.0
// Rounding and its bounds equal their definition, with a plain division by DIVISOR * 2^SHIFT, on every input.
module requantise_proof #(
    parameter int IW = 16,
    parameter int SHIFT = 4,
    parameter int DIVISOR = 1,
    parameter int ROUND = 1,
    parameter int LOW = -128,
    parameter int HIGH = 127
) (
    input logic signed [IW-1:0] in
);
  localparam int VW = 64;  // of the reference
  localparam logic signed [VW-1:0] DENOMINATOR = VW'(DIVISOR) <<< ((SHIFT > 0) ? SHIFT : 0);
  logic [8:0] bits, out;
  logic over, under;
  assign out = under ? 9'(LOW) : over ? 9'(HIGH) : bits;
  mase_round #(
      .IW(IW),
      .OW(9),
      .SHIFT(SHIFT),
      .DIVISOR(DIVISOR),
      .ROUND(ROUND),
      .LOW(64'(LOW)),
      .HIGH(64'(HIGH))
  ) dut (
      .in,
      .bits,
      .over,
      .under
  );
  // The output is the floor q of the quotient, or q + 1, whichever the definition says: q is known by
  // 0 <= numerator - q * DENOMINATOR < DENOMINATOR.
  (* anyconst *) logic signed [VW-1:0] q;
  logic signed [VW-1:0] numerator, remainder, twice, rounded, clamped;
  always_comb begin
    numerator = VW'(in) <<< ((SHIFT < 0) ? -SHIFT : 0);
    remainder = numerator - q * DENOMINATOR;
    assume (q > -(64'sd1 <<< 40) && q < (64'sd1 <<< 40));
    assume (remainder >= 64'sd0 && remainder < DENOMINATOR);
    rounded = q;
    twice = remainder * 64'sd2;
    if (ROUND != 0 && (twice > DENOMINATOR || (twice == DENOMINATOR && (ROUND == 2 ? in >= 0 : q[0]))))
      rounded = q + 64'sd1;
    clamped = rounded;
    if (rounded < 64'(LOW)) clamped = 64'(LOW);
    if (rounded > 64'(HIGH)) clamped = 64'(HIGH);
    assert (out == clamped[8:0]);
  end
endmodule
