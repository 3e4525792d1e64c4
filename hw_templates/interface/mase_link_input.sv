// SPDX-License-Identifier: Apache-2.0
// The beginning of a stream at the port of a device: one cycle of latency. `in_data` is {TLAST, TDATA} of an
// AXI4-Stream, as mase_link_output gives it. The low W bits of TDATA are the beat. TLAST has no reader: frames
// follow each other without a gap.
module mase_link_input #(
    parameter int W  = 8,
    parameter int TW = 8
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
  logic unused_rest;
  assign unused_rest = &{1'b0, in_data[TW:W]};

  mase_skid #(
      .W(W)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(in_data[W-1:0]),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
