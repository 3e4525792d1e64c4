// SPDX-License-Identifier: Apache-2.0
// mase_constant_add: sum = a + b, or a - b with NEGATIVE, sign extended. The carry enters below the
// operands, which also keeps a synthesis tool from making one compressor tree of several adders:
// on parts with carry chains a tree of adders takes half the LUTs.
module mase_constant_add #(
    parameter int AW = 8,
    parameter int BW = 8,
    parameter int W = 9,
    parameter int NEGATIVE = 0
) (
    input  logic [AW-1:0] a,
    input  logic [BW-1:0] b,
    output logic [ W-1:0] sum
);

  localparam logic FLIP = NEGATIVE != 0;
  logic [W-1:0] term;
  assign term = W'($signed(b)) ^ {W{FLIP}};
  assign sum  = W'(({W'($signed(a)), FLIP} + {term, FLIP}) >> 1);

endmodule
