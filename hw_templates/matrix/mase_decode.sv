// SPDX-License-Identifier: Apache-2.0
// mase_decode: the number of a short code (see mase_float_parts), combinational, in OW bits, two's complement where codes are
// SIGNED. FLOAT is the number of mantissa bits, ZERO whether there is a code for zero. With FLOAT = -1 codes are numbers already.
module mase_decode #(
    parameter int W = 8,
    parameter int SIGNED = 1,
    parameter int FLOAT = 3,
    parameter int ZERO = 1,
    parameter int OW = 19
) (
    input  logic [ W-1:0] code,
    output logic [OW-1:0] number
);

  if (FLOAT < 0) begin : g_number
    if (SIGNED != 0) begin : g_signed
      assign number = OW'($signed(code));
    end else begin : g_unsigned
      assign number = OW'(code);
    end
  end else begin : g_code
    localparam int MAGNITUDE = W - ((SIGNED != 0) ? 1 : 0);
    localparam int EXPONENT = MAGNITUDE - FLOAT;
    localparam int OFFSET = (ZERO != 0 && EXPONENT > 1) ? 1 : 0;
    localparam int BITS = (ZERO == 0) ? 1 : FLOAT + ((EXPONENT > 0) ? 1 : 0);
    localparam int EBITS = (EXPONENT > ZERO) ? EXPONENT : 1;
    localparam int SW = OW + BITS + OFFSET;
    logic negative;
    logic [BITS-1:0] significand;
    logic [EBITS-1:0] exponent;
    logic [SW-1:0] shifted;
    mase_float_parts #(
        .W(W),
        .SIGNED(SIGNED),
        .FLOAT(FLOAT),
        .ZERO(ZERO),
        .BITS(BITS),
        .EBITS(EBITS)
    ) parts (
        .code,
        .negative,
        .significand,
        .exponent
    );
    assign shifted = SW'(significand) << exponent;
    logic [OW-1:0] magnitude;
    assign magnitude = OW'(shifted >> OFFSET);
    if (W > 6) begin : g_chain
      assign number = (magnitude ^ {OW{negative}}) + OW'(negative);
    end else begin : g_table
      // Every bit is one LUT; an adder would take a carry chain besides.
      logic below;
      always_comb begin
        below = 1'b0;
        for (int i = 0; i < OW; i++) begin
          number[i] = magnitude[i] ^ (negative & below);
          below = below | magnitude[i];
        end
      end
    end
  end

endmodule
