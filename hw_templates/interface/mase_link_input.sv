// SPDX-License-Identifier: Apache-2.0
// The beginning of a stream at the port of a device: one cycle of latency. `in_data` is {TLAST, TDATA} of an
// AXI4-Stream, as mase_link_output gives it: the W bits of a beat are the low ones of WORDS beats of the link together.
// TLAST has no reader: frames follow each other without a gap.
module mase_link_input #(
    parameter int W = 8,
    parameter int TW = 8,
    parameter int WORDS = 1
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         in_valid,
    output logic         in_ready,
    input  logic [ TW:0] in_data,
    output logic         out_valid,
    input  logic         out_ready,
    output logic [W-1:0] out_data
);
  logic [WORDS*TW-1:0] whole;
  assign out_data = whole[W-1:0];

  logic unused_rest;
  assign unused_rest = &{1'b0, in_data[TW], whole};

  mase_stream_resize #(
      .W(TW),
      .IN_LANES(1),
      .OUT_LANES(WORDS)
  ) words (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(in_data[TW-1:0]),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(whole)
  );
endmodule
