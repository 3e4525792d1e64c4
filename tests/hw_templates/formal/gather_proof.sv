// SPDX-License-Identifier: Apache-2.0
// The gather, data included: output beat i of every frame is the input beat that the image names
// (places.mem: the last first); it never comes before it; it comes LATENCY cycles after its
// frame is there at the latest; beats are taken while the output waits for one; and a beat that is
// not taken holds. Frames of two beats of one bit.
module gather_proof #(
    parameter int START   = 2,
    parameter int LATENCY = 6
) (
    input logic clk,
    input logic in_valid,
    input logic in_data,
    input logic out_ready
);
  localparam int FRAMES = 5;  // that can be on their way
  logic rst, in_ready, out_valid, out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_gather #(
      .IN(2),
      .OUT(2),
      .RUN(1),
      .START(START),
      .DW(1),
      .FILE("places.mem")
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

  // `beats` of the frame that comes out and of those after it; `ahead` of them have come.
  logic [2*FRAMES-1:0] beats, next_beats;
  logic [4:0] ahead, next_ahead, wait_cycles, starving;
  logic second, present, taken, given, waiting, kept;
  wire wanted = !second;
  assign present = 5'(wanted) < ahead;
  assign taken = in_valid && in_ready;
  assign given = out_valid && out_ready;
  always_comb begin
    next_beats = beats;
    for (int i = 0; i < 2 * FRAMES; i++) if (taken && ahead == 5'(i)) next_beats[i] = in_data;
    next_ahead = taken ? ahead + 5'd1 : ahead;
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      second <= 1'b0;
      ahead <= '0;
      wait_cycles <= '0;
      starving <= '0;
      waiting <= 1'b0;
    end else begin
      beats <= (given && second) ? next_beats >> 2 : next_beats;
      ahead <= (given && second) ? next_ahead - 5'd2 : next_ahead;
      if (given) second <= !second;
      wait_cycles <= (ahead >= 5'd2 && !out_valid) ? wait_cycles + 5'd1 : '0;
      starving <= (!present && !out_valid) ? starving + 5'd1 : '0;
      waiting <= out_valid && !out_ready;
    end
    kept <= out_data;
  end
  always_comb begin
    if (!rst) begin
      if (out_valid) begin
        assert (present);
        assert (out_data == beats[wanted]);
      end
      if (waiting) begin
        assert (out_valid);
        assert (out_data == kept);
      end
      assert (ahead <= 5'(2 * FRAMES));
      assert (wait_cycles <= 5'(LATENCY));
      if (starving > 5'(LATENCY)) assert (in_ready);
    end
  end
endmodule
