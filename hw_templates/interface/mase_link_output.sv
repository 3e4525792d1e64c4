// SPDX-License-Identifier: Apache-2.0
// The end of a stream at the port of a device. `out_data` is {TLAST, TDATA} of an AXI4-Stream. A beat leaves in WORDS
// beats of the link, its low bits first, filled up with zeros; TLAST is on the last of every BEATS of these, a frame.
// One cycle of latency, or two to the first of several words.
module mase_link_output #(
    parameter int W = 8,
    parameter int TW = 8,
    parameter int WORDS = 1,
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

  logic [TW-1:0] word;
  logic [CW-1:0] index;  // of the word in its frame
  logic last;
  assign last = index == LAST;
  assign out_data = {last, word};

  always_ff @(posedge clk) begin
    if (rst) index <= '0;
    else if (out_valid && out_ready) index <= last ? '0 : index + 1'b1;
  end

  mase_stream_resize #(
      .W(TW),
      .IN_LANES(WORDS),
      .OUT_LANES(1)
  ) words (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data((WORDS * TW)'(in_data)),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(word)
  );
endmodule
