// SPDX-License-Identifier: Apache-2.0
// mase_less for ECP5, where a carry leaves its chain by way of a second one: the sign of the difference comes
// sooner.
module mase_less #(
    parameter int W = 8
) (
    input  logic [W-1:0] a,
    input  logic [W-1:0] b,
    output logic         less
);

  logic [W:0] difference;
  assign difference = {a[W-1], a} - {b[W-1], b};
  assign less = difference[W];
  logic unused_bits;
  assign unused_bits = ^difference[W-1:0];

endmodule
