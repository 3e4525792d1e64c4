// SPDX-License-Identifier: Apache-2.0
// The rows of a table: a number that comes is owed the BEATS words of its row, or of the last row when the table has
// no such row; they leave in order, one at a time. Word i of the image is i.
module embedding_proof #(
    parameter int IW = 2,
    parameter int W = 2,
    parameter int ROWS = 2,
    parameter int BEATS = 2
) (
    input logic clk,
    input logic in_valid,
    input logic [IW-1:0] in_data,
    input logic out_ready
);
  logic rst, in_ready, out_valid;
  logic [W-1:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_embedding #(
      .IW(IW),
      .W(W),
      .ROWS(ROWS),
      .BEATS(BEATS),
      .TABLE_FILE("weights.mem")
  ) dut (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(in_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );

  logic [7:0] row;
  logic [BEATS*W-1:0] words;
  always_comb begin
    row = (8'(in_data) < 8'(ROWS)) ? 8'(in_data) : 8'(ROWS - 1);
    for (int i = 0; i < BEATS; i++) words[i*W+:W] = W'(row * 8'(BEATS) + 8'(i));
  end
  // In front of the skid are the beats of a number and the word that was read before them.
  queue_properties #(
      .W(W),
      .IN(BEATS),
      .CAPACITY(BEATS + 3),
      .FULL(2),
      .LATENCY(2)
  ) properties (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(words),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
