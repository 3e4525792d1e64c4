// SPDX-License-Identifier: Apache-2.0
// repeat is a queue into which every element enters COUNT times at once, and from which LANES leave at a time.
module repeat_proof #(
    parameter int W = 1,
    parameter int COUNT = 4,
    parameter int LANES = 2
) (
    input logic clk,
    input logic in_valid,
    input logic [W-1:0] in_data,
    input logic out_ready
);
  localparam int BEATS = COUNT / LANES;
  logic rst, in_ready, out_valid;
  logic [LANES*W-1:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_repeat #(
      .W(W),
      .COUNT(COUNT),
      .LANES(LANES)
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

  // The last beat of one element in the register does not keep the next element out, unless the skid is full.
  queue_properties #(
      .W(W),
      .IN(COUNT),
      .OUT(LANES),
      .CAPACITY((BEATS + 2) * LANES),
      .FULL(2 * LANES),
      .LATENCY(1)
  ) properties (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data({COUNT{in_data}}),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
