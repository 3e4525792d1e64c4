// SPDX-License-Identifier: Apache-2.0
// The parallel window, data included: output beat (oy, ox, b) of every frame has as tap (ky, kx) beat b of
// the pixel at (oy + ky - P, ox + kx - P) of its frame, or PAD outside of the image; it never comes
// before its last pixel; no more than three frames are inside; and a beat that is not taken holds.
// One lane of one bit, stride 1.
module window_parallel_proof #(
    parameter int H  = 2,
    parameter int W  = 2,
    parameter int KH = 2,
    parameter int KW = 2,
    parameter int CF = 1,
    parameter int P  = 0   // columns before and behind
) (
    input logic clk,
    input logic in_valid,
    input logic in_data,
    input logic out_ready
);
  localparam int FRAME = H * W * CF;
  localparam int OH = H - KH + 1;
  localparam int OW = W + 2 * P - KW + 1;
  logic rst, in_ready, out_valid;
  logic [KH*KW-1:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_window_parallel #(
      .H(H),
      .W(W),
      .CF(CF),
      .KH(KH),
      .KW(KW),
      .PW(P),
      .OH(OH),
      .OW(OW),
      .DW(1),
      .PAD(1'b1)
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

  // `beats` of the frame that comes out and of the next two; `ahead` of them have come.
  logic signed [5:0] oy, ox, b, ahead, next_ahead;
  logic [3*FRAME-1:0] beats, next_beats;
  logic taken, given, frame_end, waiting;
  logic [KH*KW-1:0] kept, present, wanted;
  for (genvar k = 0; k < KH * KW; k++) begin : g_tap
    logic signed [5:0] x, at;
    logic padding;
    assign x = ox + 6'(k % KW) - 6'(P);
    assign padding = x < 6'sd0 || x >= 6'(W);
    assign at = ((oy + 6'(k / KW)) * 6'(W) + x) * 6'(CF) + b;
    assign present[k] = padding || at < ahead;
    assign wanted[k] = padding || beats[at];
  end
  assign taken = in_valid && in_ready;
  assign given = out_valid && out_ready;
  assign frame_end = given && b == 6'(CF - 1) && ox == 6'(OW - 1) && oy == 6'(OH - 1);

  always_comb begin
    next_beats = beats;
    for (int i = 0; i < 3 * FRAME; i++) if (taken && ahead == 6'(i)) next_beats[i] = in_data;
    next_ahead = taken ? ahead + 6'sd1 : ahead;
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      {oy, ox, b} <= '0;
      ahead <= '0;
      waiting <= 1'b0;
    end else begin
      beats <= frame_end ? next_beats >> FRAME : next_beats;
      ahead <= frame_end ? next_ahead - 6'(FRAME) : next_ahead;
      if (given) begin
        b <= (b == 6'(CF - 1)) ? '0 : b + 6'd1;
        if (b == 6'(CF - 1)) ox <= (ox == 6'(OW - 1)) ? '0 : ox + 6'd1;
        if (b == 6'(CF - 1) && ox == 6'(OW - 1)) oy <= (oy == 6'(OH - 1)) ? '0 : oy + 6'd1;
      end
      waiting <= out_valid && !out_ready;
    end
    kept <= out_data;
  end
  always_comb begin
    if (!rst) begin
      if (out_valid) begin
        assert (&present);
        assert (out_data == wanted);
      end
      if (waiting) begin
        assert (out_valid);
        assert (out_data == kept);
      end
      assert (ahead <= 6'(3 * FRAME));
    end
  end
endmodule
