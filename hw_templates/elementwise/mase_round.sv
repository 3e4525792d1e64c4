// SPDX-License-Identifier: Apache-2.0
// Exact rounding without state: q = round(in / (DIVISOR * 2^SHIFT)) as its low OW bits, and whether HIGH or LOW
// takes its place: where it passes them, at ties perhaps where it is equal. ROUND 0: floor; 1: to nearest, ties to
// even; 2: to nearest, ties away from zero. A negative SHIFT multiplies.
//
// With d the odd part of DIVISOR and s the shift left over, the divisor is d * 2^s. For ROUND 1 half of it
// is added first: floor((x + d*2^s/2) / (d*2^s)) rounds ties up, and a tie is exactly a sum without
// remainder. Then the result is wanted even, so its lowest bit is cleared. (s <= 0: d is odd, no ties.) For ROUND 2 one
// less than half is added to negative numbers, which rounds their ties down and no other number.
module mase_round #(
    parameter int IW = 24,
    parameter int OW = 8,
    parameter int SHIFT = 8,
    parameter int DIVISOR = 1,
    parameter int ROUND = 1,
    parameter int HALVED = 0,  // half of the divisor is in the input already, for ROUND 1
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127
) (
    input  logic signed [IW-1:0] in,
    output logic        [OW-1:0] bits,
    output logic                 over,
    output logic                 under
);
  function automatic int trailing_zeros(input int value);
    trailing_zeros = 0;
    for (int i = 30; i > 0; i--)
    if (value % (1 << i) == 0 && trailing_zeros == 0) trailing_zeros = i;
  endfunction
  localparam int TWOS = trailing_zeros(DIVISOR);
  localparam int ODD = DIVISOR >> TWOS;
  localparam int TOTAL = SHIFT + TWOS;
  localparam int LEFT = (TOTAL < 0) ? -TOTAL : 0;
  localparam int RIGHT = (TOTAL > 0) ? TOTAL : 0;

  // Sum: input times 2^LEFT, plus half of the divisor d * 2^RIGHT, floored if that is not an integer.
  localparam int DW = $clog2(ODD + 1);
  localparam int SUMW = ((IW + LEFT > DW + RIGHT) ? IW + LEFT : DW + RIGHT) + 1;
  localparam logic signed [SUMW-1:0] HALF =
      (ROUND != 0 && HALVED == 0) ? SUMW'(((SUMW + 1)'(ODD) << RIGHT) >> 1) : '0;
  localparam int FW = SUMW - RIGHT;  // bits of the quotient by 2^RIGHT
  logic signed [SUMW-1:0] sum;
  logic signed [FW-1:0] shifted;
  logic whole;  // nothing was shifted out
  localparam logic AWAY = ROUND == 2 && RIGHT > 0;
  assign sum = (SUMW'(in) <<< LEFT) + ((AWAY && in[IW-1]) ? HALF - SUMW'(1) : HALF);
  assign shifted = FW'(sum >>> RIGHT);
  assign whole = RIGHT > 0 && (sum & ~(SUMW'(-1) << RIGHT)) == '0;

  // Least n in [low, high] with (-2^n mod d) <= 2^(n - low).
  function automatic int fraction_bits(input int d, input int low, input int high);
    int e;
    e = d - 1;
    fraction_bits = 0;
    for (int n = 1; n <= high; n++) begin
      e = (e * 2) % d;
      if (fraction_bits == 0 && n >= low && e <= (1 << (n - low))) fraction_bits = n;
    end
  endfunction
  logic signed [FW-1:0] quotient;
  logic divides;
  generate
    if (ODD == 1) begin : g_shift
      assign quotient = shifted;
      assign divides  = 1'b1;
    end else begin : g_divide
      // Granlund and Montgomery, PLDI 1994. z = shifted + d * 2^BIAS lies in [0, 2^ZW). For N with
      // M = ceil(2^N / d) = (2^N + e) / d and e <= 2^(N - ZW), z = q*d + r gives
      // d * z * M = d * 2^N * q + (2^N * r + z * e) with z * e < 2^N and r < d: the high part of
      // z * M is q, and r = 0 exactly when the low part is below M. (N = ZW + DW always does.)
      localparam int BIAS = FW - DW;
      localparam int ZW = FW + 1;
      localparam int N = fraction_bits(ODD, ZW, ZW + DW);
      localparam int MW = N + 1;
      localparam logic [N:0] POWER = {1'b1, {N{1'b0}}};
      localparam logic [N:0] D = (N + 1)'(ODD);
      localparam logic [MW-1:0] M = (POWER + D - 1'b1) / D;
      localparam int PW = N + FW;
      // Digits of M in non-adjacent form, at most half of them nonzero.
      localparam logic [MW+1:0] M1 = (MW + 2)'(M);
      localparam logic [MW+1:0] M3 = M1 + (M1 << 1);
      localparam logic [MW+1:0] PLUS = M3 & ~M1;
      localparam logic [MW+1:0] MINUS = M1 & ~M3;
      logic [ZW-1:0] z;
      logic [PW-1:0] product;
      assign z = ZW'(shifted) + (ZW'(ODD) << BIAS);
      always_comb begin
        product = '0;
        for (int i = 1; i < MW + 2; i++) begin
          if (PLUS[i]) product = product + (PW'(z) << (i - 1));
          if (MINUS[i]) product = product - (PW'(z) << (i - 1));
        end
      end
      assign quotient = FW'(product >> N) - (FW'(1) << BIAS);
      assign divides  = product[N-1:0] < N'(M);
    end
  endgenerate

  localparam logic TIES = ROUND == 1 && RIGHT > 0;
  // Bounds are compared before ties are made even. Then a tie between LOW - 1 and an odd LOW looks like LOW, so
  // there LOW itself is told as below. Bounds that are zero or powers of two look at the high bits only.
  // Other ones are compared with the input, whose sum with the half would come later:
  // in + HALF >= b * 2^RIGHT exactly if in >> CUT >= (b * 2^RIGHT - HALF) >> CUT, as the bits cut are zero there.
  // Quotients by odd numbers and of ROUND 2 are compared themselves.
  localparam logic signed [63:0] BELOW = LOW + 64'((TIES && LOW[0]) ? 1 : 0);
  function automatic int ones(input logic signed [63:0] value);  // k for value = 2^k - 1, else -1
    ones = -1;
    for (int i = 0; i < 64; i++) if (value == (64'd1 << i) - 64'd1) ones = i;
  endfunction
  localparam logic FREE = LOW > HIGH;  // no bounds: exact sums, which may have more than 64 bits
  localparam int HIGH_BITS = ones(HIGH);
  localparam int LOW_BITS = ones(~BELOW);
  localparam logic ADDS = TIES && HALVED == 0;
  localparam logic LATE = ODD != 1 || AWAY;
  localparam int CUT = LATE ? 0 : ADDS ? RIGHT - 1 : RIGHT;
  localparam int BW = LATE ? FW : SUMW - CUT;
  logic signed [BW-1:0] compared;
  generate
    if (LATE) begin : g_compare_quotient
      assign compared = quotient;
    end else begin : g_compare_input
      assign compared = BW'((SUMW'(in) <<< LEFT) >>> CUT);
    end
  endgenerate
  function automatic logic signed [65:0] limit(input logic signed [63:0] bound);
    limit = (ODD == 1 && ADDS) ? 66'(bound) * 66'sd2 - 66'sd1 : 66'(bound);
  endfunction
  // A sign of a difference, which comes sooner out of a chain than its carry.
  localparam int CW = ((BW > 66) ? BW : 66) + 1;
  logic signed [CW-1:0] above, below;
  assign above = CW'(limit(HIGH + 64'sd1)) - CW'(1) - CW'(compared);
  assign below = CW'(compared) - CW'(limit(BELOW));
  generate
    if (FREE || HIGH_BITS >= FW - 1) begin : g_never_over
      assign over = 1'b0;
    end else if (HIGH_BITS >= 0) begin : g_over_bits
      assign over = !quotient[FW-1] && quotient[FW-2:HIGH_BITS] != '0;
    end else begin : g_over
      assign over = above[CW-1];
    end
    if (FREE || LOW_BITS >= FW - 1) begin : g_never_under
      assign under = 1'b0;
    end else if (BELOW == 0) begin : g_negative
      assign under = quotient[FW-1];
    end else if (LOW_BITS >= 0) begin : g_under_bits
      assign under = quotient[FW-1] && quotient[FW-2:LOW_BITS] != '1;
    end else begin : g_under
      assign under = below[CW-1];
    end
  endgenerate
  assign bits = OW'(quotient) & ~(OW'(TIES && whole && divides));
  logic unused_bits;  // the high ones where both bounds are compared with the input
  assign unused_bits = ^{quotient, above, below};
endmodule
