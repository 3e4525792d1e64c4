// SPDX-License-Identifier: Apache-2.0
// skid is a queue of two that accepts whenever it is not full and offers whenever it is not empty.
module skid_proof #(
    parameter int W = 8
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
  mase_skid #(
      .W(W)
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
      .CAPACITY(2),
      .FULL(2),
      .LATENCY(0)
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
