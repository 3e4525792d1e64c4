// SPDX-License-Identifier: Apache-2.0
// The sliding window, data included: output beat (oy, ox, ky, kx) of every frame is the pixel at
// (oy*S + ky*D - P, ox*S + kx*D - P) of its frame, or PAD outside of the image; it never comes before its
// pixel; it comes LATENCY cycles after it at the latest; the window takes beats while its output
// waits for one; and a beat that is not taken holds. One channel of one bit.
module window_proof #(
    parameter int H = 3,
    parameter int W = 3,
    parameter int K = 2,
    parameter int S = 1,
    parameter int D = 1,
    parameter int P = 1,
    parameter int A = P,  // padding behind
    parameter int LATENCY = 6
) (
    input logic clk,
    input logic in_valid,
    input logic in_data,
    input logic out_ready
);
  localparam int FRAME = H * W;
  localparam int OH = (H + P + A - (K - 1) * D - 1) / S + 1;
  localparam int OW = (W + P + A - (K - 1) * D - 1) / S + 1;
  logic rst, in_ready, out_valid, out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_window #(
      .H(H),
      .W(W),
      .KH(K),
      .KW(K),
      .SH(S),
      .SW(S),
      .DY(D),
      .DX(D),
      .PH(P),
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

  // `pixels` of the frame that comes out and of the next two; `ahead` pixels of them have come.
  logic signed [5:0] oy, ox, ky, kx, y, x, wanted, ahead, next_ahead;
  logic [3*FRAME-1:0] pixels, next_pixels;
  logic padding, present, taken, given, frame_end, waiting, kept;
  logic [5:0] wait_cycles, starving;
  assign y = oy * 6'(S) + ky * 6'(D) - 6'(P);
  assign x = ox * 6'(S) + kx * 6'(D) - 6'(P);
  assign padding = y < 6'sd0 || y >= 6'(H) || x < 6'sd0 || x >= 6'(W);
  assign wanted = y * 6'(W) + x;
  assign present = padding || wanted < ahead;
  assign taken = in_valid && in_ready;
  assign given = out_valid && out_ready;
  assign frame_end = given && kx == 6'(K - 1) && ky == 6'(K - 1) && ox == 6'(OW - 1) && oy == 6'(OH - 1);

  always_comb begin
    next_pixels = pixels;
    for (int i = 0; i < 3 * FRAME; i++) if (taken && ahead == 6'(i)) next_pixels[i] = in_data;
    next_ahead = taken ? ahead + 6'sd1 : ahead;
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      {oy, ox, ky, kx} <= '0;
      ahead <= '0;
      wait_cycles <= '0;
      starving <= '0;
      waiting <= 1'b0;
    end else begin
      pixels <= frame_end ? next_pixels >> FRAME : next_pixels;
      ahead <= frame_end ? next_ahead - 6'(FRAME) : next_ahead;
      if (given) begin
        kx <= (kx == 6'(K - 1)) ? '0 : kx + 6'd1;
        if (kx == 6'(K - 1)) ky <= (ky == 6'(K - 1)) ? '0 : ky + 6'd1;
        if (kx == 6'(K - 1) && ky == 6'(K - 1)) ox <= (ox == 6'(OW - 1)) ? '0 : ox + 6'd1;
        if (kx == 6'(K - 1) && ky == 6'(K - 1) && ox == 6'(OW - 1))
          oy <= (oy == 6'(OH - 1)) ? '0 : oy + 6'd1;
      end
      wait_cycles <= (present && ahead > 6'sd0 && !out_valid) ? wait_cycles + 6'd1 : '0;
      starving <= (!present && !out_valid) ? starving + 6'd1 : '0;
      waiting <= out_valid && !out_ready;
    end
    kept <= out_data;
  end
  always_comb begin
    if (!rst) begin
      if (out_valid) begin
        assert (present);
        assert (out_data == (padding || pixels[wanted]));
      end
      if (waiting) begin
        assert (out_valid);
        assert (out_data == kept);
      end
      assert (ahead <= 6'(3 * FRAME));
      assert (wait_cycles <= 6'(LATENCY));
      if (starving > 6'(LATENCY)) assert (in_ready);
    end
  end
endmodule
