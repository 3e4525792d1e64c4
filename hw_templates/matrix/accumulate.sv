// accumulate: acc = (first ? bias : acc) + sum + carry on every enabled step, modulo 2^W.
module accumulate #(
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

  logic [W-1:0] from, next;
  assign from = first ? bias : acc;
  if (HAS_CARRY != 0) begin : g_carry
    assign next = W'(({sum, carry} + {from, carry}) >> 1);
  end else begin : g_plain
    assign next = sum + from + W'(carry);
  end
  always_ff @(posedge clk) if (enable) acc <= next;

endmodule
