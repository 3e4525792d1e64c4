// SPDX-License-Identifier: Apache-2.0
// The ECP5's own comparison gives what the common one gives.
module less_proof #(
    parameter int W = 6
) (
    input logic [W-1:0] a,
    input logic [W-1:0] b
);
  logic less, wanted;
  ecp5_mase_less #(
      .W(W)
  ) dut (
      .a,
      .b,
      .less
  );
  mase_less #(
      .W(W)
  ) common (
      .a,
      .b,
      .less(wanted)
  );
  always_comb assert (less == wanted);
endmodule
