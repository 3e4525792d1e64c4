// SPDX-License-Identifier: Apache-2.0
// Joins a beat of elements and the exponent that they share, above them, as one word. Latency 2: a skid per input, a
// skid. No register lies between them: it would be empty after a wait, and the third beat after one would come late.
module mase_block_join #(
    parameter int W  = 64,  // bits of a beat of elements
    parameter int EW = 4
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            a_valid,
    output logic            a_ready,
    input  logic [W-1:0]    a_data,
    input  logic            b_valid,
    output logic            b_ready,
    input  logic [EW-1:0]   b_data,
    output logic            out_valid,
    input  logic            out_ready,
    output logic [W+EW-1:0] out_data
);
  logic elements_valid, exponent_valid, fire, enable;
  logic [W-1:0] elements;
  logic [EW-1:0] exponent;
  assign fire = elements_valid && exponent_valid && enable;

  mase_skid #(
      .W(W)
  ) a_buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(a_valid),
      .in_ready(a_ready),
      .in_data(a_data),
      .out_valid(elements_valid),
      .out_ready(fire),
      .out_data(elements)
  );
  mase_skid #(
      .W(EW)
  ) b_buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(b_valid),
      .in_ready(b_ready),
      .in_data(b_data),
      .out_valid(exponent_valid),
      .out_ready(fire),
      .out_data(exponent)
  );

  mase_skid #(
      .W(W + EW)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(elements_valid && exponent_valid),
      .in_ready(enable),
      .in_data({exponent, elements}),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
