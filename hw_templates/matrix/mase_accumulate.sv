// SPDX-License-Identifier: Apache-2.0
// mase_accumulate: acc = (first ? bias : acc) + sum + carry on every enabled step, modulo 2^W.
//
// The choice costs no LUT of its own: it fits the one in front of the carry chain as long as `sum`
// is the operand that the chain takes as it is. Yosys takes the operand of fewer bits for that,
// then the one of fewer pieces; so sum is a signed number, of which copies of the sign do not count,
// and the other operand comes in two pieces.
module mase_accumulate #(
    parameter int W = 20,
    parameter int HAS_CARRY = 0
) (
    input  logic         clk,
    input  logic         enable,
    input  logic         first,
    input  logic [W-1:0] bias,
    input  logic [W-1:0] sum,
    input  logic         carry,
    output logic [W-1:0] acc
);

  logic [W-1:0] next;
  if (W == 1) begin : g_bit
    assign next = (first ? bias : acc) ^ sum ^ carry;
  end else begin : g_pieces
    logic         high;
    logic [W-2:0] low;
    assign high = first ? bias[W-1] : acc[W-1];
    assign low  = first ? bias[W-2:0] : acc[W-2:0];
    if (HAS_CARRY != 0) begin : g_carry
      assign next = W'(($signed({sum, carry}) + $signed({high, low, carry})) >> 1);
    end else begin : g_plain
      logic unused_carry;
      assign next = $signed(sum) + $signed({high, low});
      assign unused_carry = carry;
    end
  end
  always_ff @(posedge clk) if (enable) acc <= next;

endmodule
