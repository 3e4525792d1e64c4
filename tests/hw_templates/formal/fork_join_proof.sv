// SPDX-License-Identifier: Apache-2.0
// A stream forked, delayed by a fifo on one side and joined again: the join subtracts the two copies
// of one beat, never of two different ones, so that every difference is zero; and every beat that
// entered comes out once.
module fork_join_proof #(
    parameter int W = 1,
    parameter int DEPTH = 2
) (
    input logic clk,
    input logic in_valid,
    input logic [W-1:0] in_data,
    input logic out_ready
);
  logic rst, in_ready, out_valid, delayed_valid, delayed_ready;
  logic [1:0] copy_valid, copy_ready;
  logic [2*W-1:0] copy_data;
  logic [W-1:0] delayed_data;
  logic [W:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_stream_fork #(
      .W(W),
      .N(2)
  ) copies (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(in_data),
      .out_valid(copy_valid),
      .out_ready(copy_ready),
      .out_data(copy_data)
  );
  mase_fifo #(
      .W(W),
      .DEPTH(DEPTH)
  ) delay (
      .clk(clk),
      .rst(rst),
      .in_valid(copy_valid[1]),
      .in_ready(copy_ready[1]),
      .in_data(copy_data[2*W-1:W]),
      .out_valid(delayed_valid),
      .out_ready(delayed_ready),
      .out_data(delayed_data)
  );
  mase_binary #(
      .OP(1),
      .AW(W),
      .ASIGNED(0),
      .BW(W),
      .BSIGNED(0),
      .ACCW(W + 1),
      .OW(W + 1),
      .LOW(-64'sd1 <<< W),
      .HIGH((64'sd1 <<< W) - 64'sd1)
  ) dut (
      .clk(clk),
      .rst(rst),
      .a_valid(copy_valid[0]),
      .a_ready(copy_ready[0]),
      .a_data(copy_data[W-1:0]),
      .b_valid(delayed_valid),
      .b_ready(delayed_ready),
      .b_data(delayed_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
  // The queue of zeros counts the beats: the skids of fork and join on the short side, the pipeline.
  queue_properties #(
      .W(W + 1),
      .CAPACITY(2 + 2 + 2 + 2),
      .FULL(2),
      .LATENCY(6)
  ) properties (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data('0),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
