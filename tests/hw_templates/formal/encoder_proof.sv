// SPDX-License-Identifier: Apache-2.0
// An element x / 2^FRAC becomes the number of a format that its definition gives (docs/formats.md, section 2), in units
// of 2^-OFRAC, for every x, which the module is given in every cycle. KIND 0: floating point with M bits behind the leading one, exponents from LOWEST on and
// numbers up to LARGEST, rounded by ROUND (0: down, 1: ties to even, 2: ties from zero); 1: powers of two from LOWEST
// on, or 0; 2: signs; 3: signs of what is beyond LARGEST, or 0; 4: two planes, of LARGEST and of half of it.
// LARGEST counts in units of 2^-U, in which everything here is a whole number of W bits.
module encoder_proof #(
    parameter int IW = 8,
    parameter int ISIGNED = 1,
    parameter int FRAC = 4,
    parameter int OW = 4,
    parameter int OFRAC = 1,
    parameter int COUNT = 1,
    parameter logic [COUNT*(IW+1)-1:0] THRESHOLDS = '0,
    parameter logic [(COUNT+1)*OW-1:0] LEVELS = '0,
    parameter int KIND = 0,
    parameter int M = 1,
    parameter int LOWEST = 0,
    parameter int ROUND = 1,
    parameter int U = 4,
    parameter int W = 10,
    parameter logic [W-1:0] LARGEST = '0,
    parameter logic [W-1:0] ROOT = '0  // of 2, times 2^(W - 1), rounded down
) (
    input logic clk,
    input logic [IW-1:0] first  // of the cycle of reset
);
  localparam int STAGES = $clog2(COUNT + 1);
  logic [IW-1:0] x;
  logic rst, in_ready, out_valid;
  logic [OW-1:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_quantize #(
      .IW(IW),
      .ISIGNED(ISIGNED),
      .OW(OW),
      .COUNT(COUNT),
      .THRESHOLDS(THRESHOLDS),
      .LEVELS(LEVELS)
  ) dut (
      .clk(clk),
      .rst(rst),
      .in_valid(1'b1),
      .in_ready(in_ready),
      .in_data(x),
      .out_valid(out_valid),
      .out_ready(1'b1),
      .out_data(out_data)
  );
  logic [IW-1:0] kept;
  always_ff @(posedge clk) if (rst) kept <= first;
  assign x = rst ? first : kept;
  logic negative, up;
  logic [IW:0] absolute;
  logic [W-1:0] magnitude, quotient, rest, rounded, number;
  int top, shift;
  always_comb begin
    negative = ISIGNED != 0 && x[IW-1];
    absolute = negative ? -{1'b1, x} : {1'b0, x};
    magnitude = W'(absolute) << (U - FRAC);
    top = 0;
    for (int i = 0; i < W; i++) if (magnitude[i]) top = i;
    shift = 0;
    quotient = '0;
    rest = '0;
    up = 1'b0;
    rounded = '0;
    if (KIND == 0) begin
      shift = ((top - U > LOWEST) ? top - U : LOWEST) - M + U;
      if (shift < 0) shift = 0;
      quotient = magnitude >> shift;
      rest = (magnitude - (quotient << shift)) << 1;
      if (ROUND == 0) up = negative && rest != '0;
      else
        up = rest > (W'(1) << shift) || (rest == (W'(1) << shift) && (ROUND == 2 || quotient[0]));
      rounded = (quotient + W'(up)) << shift;
      if (rounded > LARGEST) rounded = LARGEST;
    end else if (KIND == 1) begin
      up = (magnitude << (W - 1 - top)) > ROOT;
      shift = top + (up ? 1 : 0);
      rounded = W'(1) << ((shift > LOWEST + U) ? shift : LOWEST + U);
      if (rounded > LARGEST) rounded = LARGEST;
      if (magnitude <= (W'(1) << (LOWEST + U - 1))) rounded = '0;
    end else if (KIND == 2) begin
      rounded = W'(1) << U;
    end else if (KIND == 3) begin
      rounded = (magnitude > LARGEST) ? W'(1) << U : '0;
    end
    number = negative ? -rounded : rounded;
    if (KIND == 4) begin  // the sign of x, and of what is left of it
      number = negative ? -LARGEST : LARGEST;
      quotient = (negative ? -magnitude : magnitude) - number;
      number = quotient[W-1] ? number - (LARGEST >> 1) : number + (LARGEST >> 1);
    end
  end
  logic signed [W-1:0] level;
  assign level = $signed(number) >>> (U - OFRAC);
  logic [4:0] cycles;
  initial cycles = '0;
  always_ff @(posedge clk) begin
    cycles <= cycles + 5'd1;
    assert (cycles != 5'(STAGES + 4) || (out_valid && out_data == OW'(level)));
  end
endmodule
