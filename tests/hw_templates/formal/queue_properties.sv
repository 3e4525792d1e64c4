// SPDX-License-Identifier: Apache-2.0
// Properties of a module between two streams that keeps order: units of W bits enter IN at a time and
// leave OUT at a time. A reference queue beside the module says what may come out.
//  - no unit is lost, duplicated, changed or reordered: what is valid is the front of the queue;
//  - a beat that is not taken holds: valid and data stay;
//  - capacity: never more than CAPACITY units inside, and ready while there are fewer than FULL;
//  - progress: once OUT units are inside, valid at most LATENCY cycles later.
module queue_properties #(
    parameter int W = 1,
    parameter int IN = 1,
    parameter int OUT = 1,
    parameter int CAPACITY = 2,
    parameter int FULL = 2,
    parameter int LATENCY = 0
) (
    input logic clk,
    input logic rst,
    input logic in_valid,
    input logic in_ready,
    input logic [IN*W-1:0] in_data,
    input logic out_valid,
    input logic out_ready,
    input logic [OUT*W-1:0] out_data
);
  localparam int QW = (CAPACITY + IN) * W;
  logic [QW-1:0] queue, rest;  // front in the low bits, zero behind the end
  logic [7:0] count, left;
  logic [7:0] wait_cycles;
  logic waiting;
  logic [OUT*W-1:0] kept;
  assign left = (out_valid && out_ready) ? count - 8'(OUT) : count;
  assign rest = (out_valid && out_ready) ? queue >> (OUT * W) : queue;

  always_ff @(posedge clk) begin
    if (rst) begin
      queue <= '0;
      count <= '0;
      wait_cycles <= '0;
      waiting <= 1'b0;
    end else begin
      queue <= (in_valid && in_ready) ? rest | (QW'(in_data) << (left * W)) : rest;
      count <= (in_valid && in_ready) ? left + 8'(IN) : left;
      wait_cycles <= (count >= 8'(OUT) && !out_valid) ? wait_cycles + 8'd1 : '0;
      waiting <= out_valid && !out_ready;
    end
    kept <= out_data;
  end

  always_comb begin
    if (!rst) begin
      if (out_valid) begin
        assert (count >= 8'(OUT));
        assert (out_data == queue[OUT*W-1:0]);
      end
      if (waiting) begin
        assert (out_valid);
        assert (out_data == kept);
      end
      assert (count <= 8'(CAPACITY));
      if (count < 8'(FULL)) assert (in_ready);
      if (count >= 8'(OUT) && !out_valid) assert (wait_cycles < 8'(LATENCY));
    end
  end
endmodule
