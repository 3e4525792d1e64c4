// SPDX-License-Identifier: Apache-2.0
// fifo is a queue of DEPTH + 1, of which the output register takes its part one cycle late; with block memory
// there are two such registers.
module fifo_proof #(
    parameter int W = 1,
    parameter int DEPTH = 2,
    parameter int BLOCK = 0
) (
    input logic clk,
    input logic in_valid,
    input logic [W-1:0] in_data,
    input logic out_ready
);
  logic rst, in_ready, out_valid;
  logic [W-1:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_fifo #(
      .W(W),
      .DEPTH(DEPTH),
      .BLOCK(BLOCK)
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
  queue_properties #(
      .W(W),
      .CAPACITY(DEPTH + 1 + BLOCK),
      .FULL(DEPTH),
      .LATENCY(1 + BLOCK)
  ) properties (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(in_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
