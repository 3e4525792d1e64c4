// SPDX-License-Identifier: Apache-2.0
// The number of every code of W bits, for every number of mantissa bits, is the one that its definition gives, where it
// fits OW bits.
module decode_proof #(
    parameter int W = 8,
    parameter int SIGNED = 1,
    parameter int ZERO = 1,
    parameter int OW = 24
) (
    input logic [W-1:0] code
);
  localparam int MAGNITUDE = W - SIGNED;
  localparam int MOST = (ZERO != 0) ? MAGNITUDE : 0;  // codes without zero have no mantissa
  wire negative = (SIGNED != 0) && code[W-1];
  wire [W-1:0] magnitude = negative ? ~code : code;
  for (genvar f = 0; f <= MOST; f++) begin : g_mantissa
    logic [OW-1:0] number, wanted;
    mase_decode #(
        .W(W),
        .SIGNED(SIGNED),
        .FLOAT(f),
        .ZERO(ZERO),
        .OW(OW)
    ) dut (
        .code,
        .number
    );
    // Doubled once for each exponent above the least one.
    localparam int LEAST = (ZERO != 0) ? 1 : 0;
    wire [W-1:0] exponent = magnitude >> f;
    wire [W-1:0] mantissa = magnitude & W'((1 << f) - 1);
    wire [OW-1:0] significand = OW'(mantissa) + ((32'(exponent) >= 32'(LEAST)) ? OW'(1 << f) : '0);
    logic [OW-1:0] sum;
    always_comb begin
      sum = significand;
      for (int e = LEAST + 1; e < OW; e++) if (32'(exponent) >= 32'(e)) sum = sum + sum;
      wanted = negative ? -sum : sum;
    end
    localparam int HIGHEST = OW - 2 - f + LEAST;  // exponent of numbers that fit
    always_comb if (32'(exponent) <= 32'(HIGHEST)) assert (number == wanted);
  end
endmodule
