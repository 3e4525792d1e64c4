// SPDX-License-Identifier: Apache-2.0
// Insert, data included: rows of BEFORE words of the image, BEATS beats of the input in their order,
// AFTER words; no word before a row leaves before the row's first beat has come; a beat that is not
// taken holds; beats are taken while none is inside; and one that is inside leaves, or something
// before it, LATENCY cycles later. The image counts from 0 to 3: two rows where BEFORE + AFTER is 2.
module insert_proof #(
    parameter int BEFORE  = 1,
    parameter int BEATS   = 2,
    parameter int AFTER   = 1,
    parameter int LATENCY = 3
) (
    input logic clk,
    input logic in_valid,
    input logic [1:0] in_data,
    input logic out_ready
);
  localparam int ROW = BEFORE + BEATS + AFTER;
  localparam int INSIDE = 4;  // beats of the input at most
  logic rst, in_ready, out_valid;
  logic [1:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_insert #(
      .W(2),
      .BEFORE(BEFORE),
      .BEATS(BEATS),
      .AFTER(AFTER),
      .DEPTH(4),
      .IMAGE_FILE("weights.mem")
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

  logic [2*INSIDE+1:0] queue, rest;  // front in the low bits
  logic [3:0] count, left, turn, wait_cycles;
  logic [1:0] word, kept;
  logic waiting;
  wire given = out_valid && out_ready;
  wire leading = turn < 4'(BEFORE);
  wire input_turn = !leading && turn < 4'(BEFORE + BEATS);
  assign rest = (given && input_turn) ? queue >> 2 : queue;
  assign left = (given && input_turn) ? count - 4'd1 : count;
  always_ff @(posedge clk) begin
    if (rst) begin
      queue <= '0;
      count <= '0;
      turn <= '0;
      word <= '0;
      wait_cycles <= '0;
      waiting <= 1'b0;
    end else begin
      queue <= (in_valid && in_ready) ? rest | ((2 * INSIDE + 2)'(in_data) << (left * 2)) : rest;
      count <= (in_valid && in_ready) ? left + 4'd1 : left;
      if (given) turn <= (turn == 4'(ROW - 1)) ? '0 : turn + 4'd1;
      if (given && !input_turn) word <= word + 2'd1;
      wait_cycles <= (count != '0 && !out_valid) ? wait_cycles + 4'd1 : '0;
      waiting <= out_valid && !out_ready;
    end
    kept <= out_data;
  end
  always_comb begin
    if (!rst) begin
      if (out_valid) begin
        assert (out_data == (input_turn ? queue[1:0] : word));
        if (leading || input_turn) assert (count != '0);
      end
      if (waiting) begin
        assert (out_valid);
        assert (out_data == kept);
      end
      assert (count <= 4'(INSIDE));
      if (count == '0) assert (in_ready);
      assert (wait_cycles <= 4'(LATENCY));
    end
  end
endmodule
