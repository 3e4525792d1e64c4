// SPDX-License-Identifier: Apache-2.0
// Exact requantisation: out = clamp(round(in / (DIVISOR * 2^SHIFT)), LOW, HIGH) in the low OW bits, for the
// `in` of the last enabled cycle. Registers lie between rounding (see mase_round) and the choice of a bound, which
// what follows takes into its own LUTs.
module mase_requantise_stage #(
    parameter int IW = 24,
    parameter int OW = 8,
    parameter int SHIFT = 8,
    parameter int DIVISOR = 1,
    parameter int ROUND = 1,
    parameter int HALVED = 0,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127
) (
    input  logic                 clk,
    input  logic                 enable,
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
      .HALVED(HALVED),
      .LOW(LOW),
      .HIGH(HIGH)
  ) round (
      .in,
      .bits,
      .over,
      .under
  );
  logic [OW-1:0] bits_kept;
  logic over_kept, under_kept;
  always_ff @(posedge clk)
    if (enable) begin
      bits_kept <= bits;
      over_kept <= over;
      under_kept <= under;
    end
  assign out = under_kept ? OW'(LOW) : over_kept ? OW'(HIGH) : bits_kept;
endmodule
