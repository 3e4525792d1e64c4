// SPDX-License-Identifier: Apache-2.0
// The sliding window's flow, frame after frame: beat (oy, ox, ky, kx) never comes before its pixel
// has, every frame gives its OH*OW*KH*KW beats and no more, no more than MOST frames
// are inside, and a beat that is not taken stays, with its data. One channel, stride 1, no padding.
module window_flow_proof #(
    parameter int H = 2,
    parameter int W = 2,
    parameter int KH = 2,
    parameter int KW = 2,
    parameter int MOST = 3
) (
    input logic clk,
    input logic in_valid,
    input logic in_data,
    input logic out_ready
);
  localparam int FRAME = H * W;
  localparam int OH = H - KH + 1;
  localparam int OW = W - KW + 1;
  localparam int BEATS = OH * OW * KH * KW;
  localparam int IW = $clog2(FRAME);
  localparam int OUTW = $clog2(BEATS);
  logic rst, in_ready, out_valid, out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_window #(
      .H(H),
      .W(W),
      .OH(OH),
      .OW(OW),
      .KH(KH),
      .KW(KW),
      .DW(1)
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

  logic [IW-1:0] pixel;   // of the frame that comes in
  logic [OUTW-1:0] beat;  // of the frame that goes out
  logic [2:0] frames;     // that have come in whole and have not gone out
  logic [BEATS-1:0] present;
  for (genvar i = 0; i < BEATS; i++) begin : g_beat
    localparam int Y = i / (KH * KW * OW) + i / KW % KH;
    localparam int X = i / (KH * KW) % OW + i % KW;
    assign present[i] = frames != 3'd0 || pixel > IW'(Y * W + X);
  end
  logic taken, given, waiting, kept, in_end, out_end;
  assign taken = in_valid && in_ready;
  assign given = out_valid && out_ready;
  assign in_end = taken && pixel == IW'(FRAME - 1);
  assign out_end = given && beat == OUTW'(BEATS - 1);

  always_ff @(posedge clk) begin
    if (rst) begin
      pixel <= '0;
      beat <= '0;
      frames <= 3'd0;
      waiting <= 1'b0;
    end else begin
      if (taken) pixel <= in_end ? '0 : pixel + 1'b1;
      if (given) beat <= out_end ? '0 : beat + 1'b1;
      if (in_end != out_end) frames <= in_end ? frames + 3'd1 : frames - 3'd1;
      waiting <= out_valid && !out_ready;
    end
    kept <= out_data;
  end
  always_comb begin
    if (!rst) begin
      if (out_valid) assert (present[beat]);
      if (waiting) begin
        assert (out_valid);
        assert (out_data == kept);
      end
      assert (frames <= 3'(MOST));
    end
  end
endmodule
