// SPDX-License-Identifier: Apache-2.0
// slice is a queue of the beats inside of its range; the others are taken and leave no trace.
module slice_proof #(
    parameter int W = 1,
    parameter int BEATS = 4,
    parameter int FIRST = 1,
    parameter int COUNT = 2
) (
    input logic clk,
    input logic in_valid,
    input logic [W-1:0] in_data,
    input logic out_ready
);
  logic rst, in_ready, out_valid, inside_range;
  logic [W-1:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_slice #(
      .W(W),
      .BEATS(BEATS),
      .FIRST(FIRST),
      .COUNT(COUNT)
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
  logic [7:0] index;
  assign inside_range = index >= 8'(FIRST) && index < 8'(FIRST + COUNT);
  always_ff @(posedge clk) begin
    if (rst) index <= '0;
    else if (in_valid && in_ready) index <= (index == 8'(BEATS - 1)) ? '0 : index + 8'd1;
  end
  queue_properties #(
      .W(W),
      .CAPACITY(2),
      .FULL(2)
  ) properties (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid && inside_range),
      .in_ready(in_ready),
      .in_data(in_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
