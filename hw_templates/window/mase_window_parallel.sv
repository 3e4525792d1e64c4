// SPDX-License-Identifier: Apache-2.0
// Sliding window, a whole window per beat: KH*KW*LANES lanes in the order (ky, kx, lane) for each of
// the CF beats of LANES channels of each of OH x OW output pixels of an H x W image. Taps, PAD and
// negative PH and PW as in mase_window.
//
// A delay line: EH - 1 line buffers, then the taps of each row, GAP beats apart, shift by one beat
// per step. Taps of more than two beats apart have a memory between them, others registers. Frames are
// rasters of HP x WP pixels of CF steps; where the image is smaller than that, steps take no beat. The window
// whose last beat is the one of step s belongs to raster position s - LAG, so the last windows of
// a frame leave while the next frame enters, or in steps without a beat when no frame follows.
// Registers that hold pixels of another row, column or frame are masked. Frames take HP*WP*CF cycles.
module mase_window_parallel #(
    parameter int H = 4,
    parameter int W = 4,
    parameter int CF = 1,
    parameter int LANES = 1,
    parameter int KH = 2,
    parameter int KW = 2,
    parameter int SH = 1,
    parameter int SW = 1,
    parameter int DY = 1,
    parameter int DX = 1,
    parameter int PH = 0,
    parameter int PW = 0,
    parameter int OH = 3,
    parameter int OW = 3,
    parameter int DW = 8,
    parameter logic [DW-1:0] PAD = '0
) (
    input  logic                      clk,
    input  logic                      rst,
    input  logic                      in_valid,
    output logic                      in_ready,
    input  logic [      LANES*DW-1:0] in_data,
    output logic                      out_valid,
    input  logic                      out_ready,
    output logic [KH*KW*LANES*DW-1:0] out_data
);
  localparam int EH = (KH - 1) * DY + 1;
  localparam int EW = (KW - 1) * DX + 1;
  initial
    if (PH >= EH || PW >= EW) $fatal(1, "mase_window_parallel: padding is not below the kernel");

  localparam int BEAT = LANES * DW;
  localparam int LAST_Y = (OH - 1) * SH;  // raster position of the last window
  localparam int LAST_X = (OW - 1) * SW;
  localparam int WP = (W > LAST_X + 1) ? W : LAST_X + 1;
  localparam int PIXELS = (EH - 1 - PH) * WP + EW - 1 - PW;
  localparam int LAG = PIXELS * CF;
  localparam int ROWS = (H > LAST_Y + 1) ? H : LAST_Y + 1;
  // More than LAG steps, so that no more than two frames are under way.
  localparam int HP = (ROWS > PIXELS / WP + 1) ? ROWS : PIXELS / WP + 1;
  localparam int YW = (HP > 1) ? $clog2(HP) : 1;
  localparam int XW = (WP > 1) ? $clog2(WP) : 1;
  localparam int LW = $clog2(LAG + 2);

  logic enable, needs, idle, enters, step, flush;
  logic [XW-1:0] in_x, x;  // raster position of the entering beat, of the window
  logic [YW-1:0] in_y, y;
  logic first;  // the window is the first of its frame
  logic [LW-1:0] slack;  // steps that this frame must still be behind
  wire waits = first && slack != '0;
  assign in_ready = enable && needs;
  assign flush = idle && !in_valid;
  assign enters = enable && (in_valid || !needs);
  assign step = enters || (enable && idle && !first);

  logic end_in_beat, end_beat;  // the last beat of its pixel
  if (CF == 1) begin : g_whole
    assign end_in_beat = 1'b1;
    assign end_beat = 1'b1;
  end else begin : g_beats
    localparam int BW = $clog2(CF);
    logic [BW-1:0] in_beat, beat;
    assign end_in_beat = in_beat == BW'(CF - 1);
    assign end_beat = beat == BW'(CF - 1);
    always_ff @(posedge clk)
      if (rst) begin
        in_beat <= '0;
        beat <= '0;
      end else begin
        if (enters) in_beat <= end_in_beat ? '0 : in_beat + 1'b1;
        if (step && !waits) beat <= end_beat ? '0 : beat + 1'b1;
      end
  end

  wire end_in_x = end_in_beat && in_x == XW'(WP - 1);
  wire end_in_y = in_y == YW'(HP - 1);
  wire end_x = end_beat && x == XW'(WP - 1);
  wire end_y = y == YW'(HP - 1);
  always_ff @(posedge clk)
    if (rst) begin
      in_x  <= '0;
      in_y  <= '0;
      idle  <= 1'b1;
      x     <= '0;
      y     <= '0;
      first <= 1'b1;
      slack <= LW'(LAG);
    end else begin
      if (enters) begin
        idle <= end_in_x && end_in_y;
        if (end_in_beat) in_x <= end_in_x ? '0 : in_x + 1'b1;
        if (end_in_x) in_y <= end_in_y ? '0 : in_y + 1'b1;
      end
      if (step && !waits) begin
        first <= end_x && end_y;
        if (end_beat) x <= end_x ? '0 : x + 1'b1;
        if (end_x) y <= end_y ? '0 : y + 1'b1;
      end
      if (step && waits) slack <= slack - 1'b1;
      else if (step && flush) slack <= slack + 1'b1;
    end

  if (WP == W && HP == H) begin : g_exact
    assign needs = 1'b1;
  end else if (HP == H) begin : g_wide
    assign needs = in_x < XW'(W);
  end else if (WP == W) begin : g_high
    assign needs = in_y < YW'(H);
  end else begin : g_larger
    assign needs = in_x < XW'(W) && in_y < YW'(H);
  end

  // Which raster positions are windows.
  logic gives_x, gives_y;
  if (SW == 1) begin : g_x
    if (LAST_X == WP - 1) begin : g_all
      assign gives_x = 1'b1;
    end else begin : g_inside
      assign gives_x = x <= XW'(LAST_X);
    end
  end else begin : g_stride_x
    localparam int PXW = $clog2(SW);
    logic [PXW-1:0] phase;
    always_ff @(posedge clk)
      if (rst) phase <= '0;
      else if (step && !waits && end_beat)
        phase <= (end_x || phase == PXW'(SW - 1)) ? '0 : phase + 1'b1;
    if (LAST_X + SW >= WP) begin : g_all
      assign gives_x = phase == '0;
    end else begin : g_inside
      assign gives_x = phase == '0 && x <= XW'(LAST_X);
    end
  end
  if (SH == 1) begin : g_y
    if (LAST_Y == HP - 1) begin : g_all
      assign gives_y = 1'b1;
    end else begin : g_inside
      assign gives_y = y <= YW'(LAST_Y);
    end
  end else begin : g_stride_y
    localparam int PYW = $clog2(SH);
    logic [PYW-1:0] phase;
    always_ff @(posedge clk)
      if (rst) phase <= '0;
      else if (step && !waits && end_x)
        phase <= (end_y || phase == PYW'(SH - 1)) ? '0 : phase + 1'b1;
    if (LAST_Y + SH >= HP) begin : g_all
      assign gives_y = phase == '0;
    end else begin : g_inside
      assign gives_y = phase == '0 && y <= YW'(LAST_Y);
    end
  end

  logic valid;
  always_ff @(posedge clk)
    if (rst) valid <= 1'b0;
    else if (enable) valid <= step && !waits && gives_x && gives_y;

  // Column of the entering beat: row EH - 1 is that beat, the rows before it come from the lines.
  logic [EH*BEAT-1:0] column;
  assign column[(EH-1)*BEAT+:BEAT] = in_data;
  if (EH > 1) begin : g_lines
    localparam int LINES = (EH - 1) * BEAT;
    localparam int LINE = WP * CF;  // beats
    logic [LINES-1:0] lines;
    assign column[LINES-1:0] = lines;
    if (LINE == 1) begin : g_registers
      always_ff @(posedge clk) if (step) lines <= column[BEAT+:LINES];
    end else begin : g_memory
      // Block memories give their words late in the cycle: a register follows them.
      localparam int BLOCK = (LINE > 64 && LINE * LINES > 2048) ? 1 : 0;
      localparam int DEPTH = LINE - BLOCK;
      localparam int AW = $clog2(DEPTH);
      logic [LINES-1:0] kept;
      logic [AW-1:0] address, next;
      // Registered too, since a long line in LUTs takes a cycle to read.
      always_ff @(posedge clk)
        if (rst) begin
          address <= '0;
          next <= AW'(1);
        end else if (step) begin
          address <= next;
          next <= (next == AW'(DEPTH - 1)) ? '0 : next + 1'b1;
        end
      mase_window_memory #(
          .W(LINES),
          .DEPTH(DEPTH),
          .BLOCK(BLOCK)
      ) memory (
          .clk,
          .write(step),
          .write_address(address),
          .write_data(column[BEAT+:LINES]),
          .read(step),
          .read_address(next),
          .read_data(kept)
      );
      if (BLOCK != 0) begin : g_late
        always_ff @(posedge clk) if (step) lines <= kept;
      end else begin : g_soon
        assign lines = kept;
      end
    end
  end

  // Registers of the taps of each row, and of what lies between them where no memory does.
  localparam int GAP = DX * CF;
  localparam int MEMORY = (KW > 1 && GAP > 2) ? 1 : 0;
  localparam int SPACE = (MEMORY != 0) ? 1 : GAP;  // registers from one tap to the next
  localparam int ROW = (KW - 1) * SPACE + 1;
  logic [KH*ROW*BEAT-1:0] registers;
  if (MEMORY != 0) begin : g_gaps
    localparam int KEPT = KH * (KW - 1) * BEAT;
    localparam int DEPTH = GAP - 1;
    localparam int AW = $clog2(DEPTH);
    logic [KEPT-1:0] taps, kept;
    logic [AW-1:0] address, next;
    always_ff @(posedge clk)
      if (rst) begin
        address <= '0;
        next <= AW'(1);
      end else if (step) begin
        address <= next;
        next <= (next == AW'(DEPTH - 1)) ? '0 : next + 1'b1;
      end
    mase_window_memory #(
        .W(KEPT),
        .DEPTH(DEPTH),
        .BLOCK((DEPTH > 64 && DEPTH * KEPT > 2048) ? 1 : 0)
    ) memory (
        .clk,
        .write(step),
        .write_address(address),
        .write_data(taps),
        .read(step),
        .read_address(next),
        .read_data(kept)
    );
    for (genvar k = 0; k < KH; k++) begin : g_row
      localparam int WIDTH = (KW - 1) * BEAT;
      assign taps[k*WIDTH+:WIDTH] = registers[(k*KW+1)*BEAT+:WIDTH];
      always_ff @(posedge clk) if (step) registers[k*KW*BEAT+:WIDTH] <= kept[k*WIDTH+:WIDTH];
    end
  end else if (ROW > 1) begin : g_shift
    for (genvar k = 0; k < KH; k++) begin : g_row
      always_ff @(posedge clk)
        if (step)
          registers[k*ROW*BEAT+:(ROW-1)*BEAT] <= registers[(k*ROW+1)*BEAT+:(ROW-1)*BEAT];
    end
  end

  // Masks of the rows and columns outside of the image.
  logic [KH*KW*BEAT-1:0] window;
  logic [KH-1:0] row_pad, row_pad_q;
  logic [KW-1:0] column_pad, column_pad_q;
  always_ff @(posedge clk)
    if (step) begin
      row_pad_q <= row_pad;
      column_pad_q <= column_pad;
    end
  for (genvar k = 0; k < KH; k++) begin : g_row
    localparam int FIRST = PH - k * DY;
    localparam int LAST = H + PH - k * DY;
    if (FIRST > LAST_Y || LAST <= 0) assign row_pad[k] = 1'b1;
    else if (FIRST > 0 && LAST <= LAST_Y) assign row_pad[k] = y < YW'(FIRST) || y >= YW'(LAST);
    else if (FIRST > 0) assign row_pad[k] = y < YW'(FIRST);
    else if (LAST <= LAST_Y) assign row_pad[k] = y >= YW'(LAST);
    else assign row_pad[k] = 1'b0;
    always_ff @(posedge clk)
      if (step)
        registers[((k+1)*ROW-1)*BEAT+:BEAT] <= column[k*DY*BEAT+:BEAT];
    for (genvar j = 0; j < KW; j++) begin : g_tap
      assign window[(k*KW+j)*BEAT+:BEAT] =
          (row_pad_q[k] || column_pad_q[j]) ? {LANES{PAD}} : registers[(k*ROW+j*SPACE)*BEAT+:BEAT];
    end
  end
  for (genvar k = 0; k < KW; k++) begin : g_column
    localparam int FIRST = PW - k * DX;
    localparam int LAST = W + PW - k * DX;
    if (FIRST > LAST_X || LAST <= 0) assign column_pad[k] = 1'b1;
    else if (FIRST > 0 && LAST <= LAST_X) assign column_pad[k] = x < XW'(FIRST) || x >= XW'(LAST);
    else if (FIRST > 0) assign column_pad[k] = x < XW'(FIRST);
    else if (LAST <= LAST_X) assign column_pad[k] = x >= XW'(LAST);
    else assign column_pad[k] = 1'b0;
  end

  mase_skid #(
      .W(KH * KW * BEAT)
  ) out_skid (
      .clk,
      .rst,
      .in_valid(valid),
      .in_ready(enable),
      .in_data(window),
      .out_valid,
      .out_ready,
      .out_data
  );
endmodule
