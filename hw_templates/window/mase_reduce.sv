// SPDX-License-Identifier: Apache-2.0
// N beats give one, lane by lane. OP 0: maximum; 1: sum. Requantises at the end. Behind `mase_window`
// with BLOCKS = CF this is pooling over windows that overlap or are padded.
module mase_reduce #(
    parameter int N = 4,
    parameter int LANES = 1,
    parameter int IW = 8,
    parameter int ISIGNED = 1,
    parameter int OP = 0,
    parameter int ACCW = 8,
    parameter int OW = 8,
    parameter int SHIFT = 0,
    parameter int DIVISOR = 1,
    parameter int ROUND = 0,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                in_valid,
    output logic                in_ready,
    input  logic [LANES*IW-1:0] in_data,
    output logic                out_valid,
    input  logic                out_ready,
    output logic [LANES*OW-1:0] out_data
);
  // An image of one row of N pixels under one window.
  mase_pool #(
      .H(1),
      .W(N),
      .CF(1),
      .KH(1),
      .KW(N),
      .LANES(LANES),
      .IW(IW),
      .ISIGNED(ISIGNED),
      .OP(OP),
      .ACCW(ACCW),
      .OW(OW),
      .SHIFT(SHIFT),
      .DIVISOR(DIVISOR),
      .ROUND(ROUND),
      .LOW(LOW),
      .HIGH(HIGH)
  ) row (
      .clk,
      .rst,
      .in_valid,
      .in_ready,
      .in_data,
      .out_valid,
      .out_ready,
      .out_data
  );
endmodule
