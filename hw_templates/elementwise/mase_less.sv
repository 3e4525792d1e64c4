// SPDX-License-Identifier: Apache-2.0
// mase_less: whether a signed number is less than another one.
module mase_less #(
    parameter int W = 8
) (
    input  logic [W-1:0] a,
    input  logic [W-1:0] b,
    output logic         less
);

  assign less = $signed(a) < $signed(b);

endmodule
