// SPDX-License-Identifier: Apache-2.0
// mase_float_parts: sign, significand and exponent of a short code, whose number is (significand << exponent) >> OFFSET,
// negated with the sign (lib/hardware/integer/float_code.hpp defines codes and numbers). A negative code is its magnitude
// with every bit inverted; the low FLOAT bits of a magnitude are its mantissa, EXPONENT bits stand above it. OFFSET is 1 where
// codes with zero have EXPONENT > 1: then exponent 0 means what 1 means, but without the bit in front of the mantissa.
// Otherwise there is nothing to shift by. BITS and EBITS are the bits that significand and exponent have, at least one.
module mase_float_parts #(
    parameter int W = 8,
    parameter int SIGNED = 1,
    parameter int FLOAT = 3,
    parameter int ZERO = 1,
    parameter int BITS = 4,
    parameter int EBITS = 4,
    parameter int LESS = 0  // takes OFFSET off the exponent, which is then without meaning for zero
) (
    input  logic [    W-1:0] code,
    output logic             negative,
    output logic [ BITS-1:0] significand,
    output logic [EBITS-1:0] exponent
);

  localparam int MAGNITUDE = W - ((SIGNED != 0) ? 1 : 0);
  localparam int EXPONENT = MAGNITUDE - FLOAT;

  assign negative = (SIGNED != 0) && code[W-1];

  if (MAGNITUDE == 0) begin : g_sign
    assign significand = 1'b1;
    assign exponent = 1'b0;
  end else begin : g_magnitude
    logic [MAGNITUDE-1:0] magnitude;
    assign magnitude = code[MAGNITUDE-1:0] ^ {MAGNITUDE{negative}};
    if (ZERO == 0) begin : g_power
      assign significand = 1'b1;
      assign exponent = magnitude;
    end else if (EXPONENT < 2) begin : g_whole
      assign significand = magnitude;
      assign exponent = 1'b0;
    end else begin : g_float
      logic hidden;
      logic [EBITS-1:0] least;
      assign hidden = magnitude[MAGNITUDE-1:FLOAT] != '0;
      if (FLOAT == 0) begin : g_power_or_zero
        assign significand = hidden;
        assign least = magnitude;
      end else begin : g_mantissa
        assign significand = {hidden, magnitude[FLOAT-1:0]};
        assign least = {magnitude[MAGNITUDE-1:FLOAT+1], magnitude[FLOAT] | ~hidden};
      end
      for (genvar i = 0; i < EBITS; i++) begin : g_exponent
        if (LESS == 0) begin : g_whole_exponent
          assign exponent[i] = least[i];
        end else if (i == 0) begin : g_lowest
          assign exponent[i] = ~least[i];
        end else begin : g_less
          assign exponent[i] = least[i] ^ (least[i-1:0] == '0);
        end
      end
    end
  end

endmodule
