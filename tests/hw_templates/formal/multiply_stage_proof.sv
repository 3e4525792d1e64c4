// SPDX-License-Identifier: Apache-2.0
// The ECP5's own multiply_stage gives what the common one gives, two enabled cycles after any operands.
module multiply_stage_proof #(
    parameter int AW = 5,
    parameter int BW = 4,
    parameter int W  = 9
) (
    input logic clk,
    input logic enable,
    input logic [AW-1:0] a,
    input logic [BW-1:0] b
);
  logic [W-1:0] product, wanted;
  logic [1:0] filled;
  ecp5_mase_multiply_stage #(
      .AW(AW),
      .BW(BW),
      .W(W)
  ) dut (
      .clk,
      .enable,
      .a,
      .b,
      .product
  );
  mase_multiply_stage #(
      .AW(AW),
      .BW(BW),
      .W(W)
  ) common (
      .clk,
      .enable,
      .a,
      .b,
      .product(wanted)
  );
  initial filled = '0;
  always_ff @(posedge clk) if (enable) filled <= {filled[0], 1'b1};
  always_comb if (filled[1]) assert (product == wanted);
endmodule
