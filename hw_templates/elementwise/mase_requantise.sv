// SPDX-License-Identifier: Apache-2.0
// Exact requantisation without state: out = clamp(round(in / (DIVISOR * 2^SHIFT)), LOW, HIGH) in the
// low OW bits. See mase_round.
module mase_requantise #(
    parameter int IW = 24,
    parameter int OW = 8,
    parameter int SHIFT = 8,
    parameter int DIVISOR = 1,
    parameter int ROUND = 1,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127
) (
    input  logic signed [IW-1:0] in,
    output logic        [OW-1:0] out
);
  logic [OW-1:0] bits;
  logic over, under;
  mase_round #(
      .IW(IW),
      .OW(OW),
      .SHIFT(SHIFT),
      .DIVISOR(DIVISOR),
      .ROUND(ROUND),
      .LOW(LOW),
      .HIGH(HIGH)
  ) round (
      .in,
      .bits,
      .over,
      .under
  );
  assign out = under ? OW'(LOW) : over ? OW'(HIGH) : bits;
endmodule
