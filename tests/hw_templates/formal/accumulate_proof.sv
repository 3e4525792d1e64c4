// SPDX-License-Identifier: Apache-2.0
// accumulate is the plain sum: bias or what was there, plus sum and carry, modulo 2^W.
module accumulate_proof #(
    parameter int W = 5,
    parameter int HAS_CARRY = 0
) (
    input logic clk,
    input logic enable,
    input logic first,
    input logic [W-1:0] bias,
    input logic [W-1:0] sum,
    input logic carry
);
  logic [W-1:0] acc, wanted;
  logic started, carried;
  assign carried = HAS_CARRY != 0 && carry;
  mase_accumulate #(
      .W(W),
      .HAS_CARRY(HAS_CARRY)
  ) dut (
      .clk(clk),
      .enable(enable),
      .first(first),
      .bias(bias),
      .sum(sum),
      .carry(carried),
      .acc(acc)
  );
  initial started = 1'b0;
  always_ff @(posedge clk)
    if (enable) begin
      wanted  <= (first ? bias : wanted) + sum + W'(carried);
      started <= started || first;
    end
  always_comb if (started) assert (acc == wanted);
endmodule
