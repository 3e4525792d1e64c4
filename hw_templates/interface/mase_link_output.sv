// SPDX-License-Identifier: Apache-2.0
// The end of a stream at the port of a device: one cycle of latency. `out_data` is {TLAST, TDATA} of an AXI4-Stream.
// TDATA has the beat in its low W bits and zeros above; TLAST is on the last of every BEATS beats, a frame.
module mase_link_output #(
    parameter int W = 8,
    parameter int TW = 8,
    parameter int BEATS = 1
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         in_valid,
    output logic         in_ready,
    input  logic [W-1:0] in_data,
    output logic         out_valid,
    input  logic         out_ready,
    output logic [ TW:0] out_data
);
  localparam int CW = (BEATS > 1) ? $clog2(BEATS) : 1;
  localparam logic [CW-1:0] LAST = CW'(BEATS - 1);

  logic [ W-1:0] data;
  logic [CW-1:0] index;  // of the beat in its frame
  logic last;
  assign last = index == LAST;
  assign out_data = {last, TW'(data)};

  always_ff @(posedge clk) begin
    if (rst) index <= '0;
    else if (out_valid && out_ready) index <= last ? '0 : index + 1'b1;
  end

  mase_skid #(
      .W(W)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(in_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(data)
  );
endmodule
