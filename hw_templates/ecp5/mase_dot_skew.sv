// SPDX-License-Identifier: Apache-2.0
// mase_dot_skew for ECP5, whose mase_dot_multiply wants all lanes at once.
module mase_dot_skew #(
    parameter int SIMD = 8,
    parameter int W = 8,
    parameter int SHARED = 0
) (
    input  logic              clk,
    input  logic              rst,
    input  logic              enable,
    input  logic [SIMD*W-1:0] in,
    output logic [SIMD*W-1:0] out
);

  localparam logic ANY_SHARED = SHARED != 0;
  logic unused;
  assign unused = &{ANY_SHARED, clk, rst, enable};
  assign out = in;

endmodule
