// SPDX-License-Identifier: Apache-2.0
// Copies a stream to N outputs that may stall independently: every beat enters one skid per output at
// the same time, when all of them have room.
module mase_stream_fork #(
    parameter int W = 8,
    parameter int N = 2
) (
    input  logic           clk,
    input  logic           rst,
    input  logic           in_valid,
    output logic           in_ready,
    input  logic [W-1:0]   in_data,
    output logic [N-1:0]   out_valid,
    input  logic [N-1:0]   out_ready,
    output logic [N*W-1:0] out_data
);
  logic [N-1:0] room;
  assign in_ready = &room;

  for (genvar i = 0; i < N; i++) begin : g_output
    mase_skid #(
        .W(W)
    ) buffer (
        .clk(clk),
        .rst(rst),
        .in_valid(in_valid && in_ready),
        .in_ready(room[i]),
        .in_data(in_data),
        .out_valid(out_valid[i]),
        .out_ready(out_ready[i]),
        .out_data(out_data[i*W+:W])
    );
  end
endmodule
