// SPDX-License-Identifier: Apache-2.0
// stream_resize is a queue that is pushed and popped by different amounts. Towards fewer lanes it holds
// a wide beat, two narrow ones and less than a third, towards more lanes less than a wide beat and one,
// or two where two of them can follow each other.
module resize_proof #(
    parameter int W = 1,
    parameter int IN_LANES = 3,
    parameter int OUT_LANES = 1
) (
    input logic clk,
    input logic in_valid,
    input logic [IN_LANES*W-1:0] in_data,
    input logic out_ready
);
  localparam int WIDE = (IN_LANES > OUT_LANES) ? IN_LANES : OUT_LANES;
  localparam int NARROW = (IN_LANES > OUT_LANES) ? OUT_LANES : IN_LANES;
  localparam int DOWN = (IN_LANES > OUT_LANES) ? 1 : 0;
  logic rst, in_ready, out_valid;
  logic [OUT_LANES*W-1:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_stream_resize #(
      .W(W),
      .IN_LANES(IN_LANES),
      .OUT_LANES(OUT_LANES)
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
      .IN(IN_LANES),
      .OUT(OUT_LANES),
      .CAPACITY((DOWN != 0) ? WIDE + 3 * NARROW - 1 : (WIDE == NARROW) ? 2 * WIDE : (WIDE < 2 * NARROW) ? 3 * WIDE - 1 : 2 * WIDE - 1),
      .FULL((DOWN != 0) ? NARROW : (WIDE > NARROW) ? WIDE : 2 * WIDE),
      .LATENCY(DOWN)
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
