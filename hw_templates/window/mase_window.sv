// SPDX-License-Identifier: Apache-2.0
// Sliding window over a stream of H x W pixels of CF beats: for each of OH x OW output pixels, for
// each of BLOCKS channel blocks, the beats of the window in the order (ky, kx, beat of the block).
// Tap (ky, kx) of output pixel (y, x) is pixel (y*SH + ky*DY - PH, x*SW + kx*DX - PW). Coordinates
// outside of the image give PAD, and are not stored; a negative PH or PW leaves out the first rows
// or columns.
//
// Input beats have running numbers, and the ring keeps beat p at p mod DEPTH. The reader's number p
// moves by a constant that depends only on the innermost loop that goes on, so `ahead` (beats
// written past p, less 1) and `room` (beats that may be written, less 1) are two signed counters,
// and their sign bits are the whole flow control. Coordinates in the padding have numbers too;
// nothing is read there. Where the first beat of a frame is padding it waits until the frame has begun:
// `ahead` is then less by LEAD, where the window begins.
//
// What depends on the place in the frame is in registers, made a step before from counters that are
// a step ahead.
module mase_window #(
    parameter int H = 4,
    parameter int W = 4,
    parameter int CF = 1,
    parameter int BLOCKS = 1,
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
    parameter int LANES = 1,
    parameter int DW = 8,
    parameter logic [DW-1:0] PAD = '0
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                in_valid,
    output logic                in_ready,
    input  logic [LANES*DW-1:0] in_data,
    output logic                out_valid,
    input  logic                out_ready,
    output logic [LANES*DW-1:0] out_data
);
  localparam int EH = (KH - 1) * DY + 1;  // from the first tap to the last
  localparam int EW = (KW - 1) * DX + 1;
  localparam int LAST_Y = (OH - 1) * SH;  // the last window's first tap, less the padding
  localparam int LAST_X = (OW - 1) * SW;
  localparam bit FIRST_PADDED = PH > 0 || PW > 0;
  localparam bit PADDED = FIRST_PADDED || LAST_Y + EH - PH > H || LAST_X + EW - PW > W;

  if (KH == 1 && KW == 1 && !PADDED) begin : g_pick
    mase_window_pick #(
        .H(H),
        .W(W),
        .CF(CF),
        .SH(SH),
        .SW(SW),
        .PH(PH),
        .PW(PW),
        .OH(OH),
        .OW(OW),
        .DW(LANES * DW)
    ) pick (
        .clk,
        .rst,
        .in_valid,
        .in_ready,
        .in_data,
        .out_valid,
        .out_ready,
        .out_data
    );
  end else begin : g_ring
    localparam int CB = CF / BLOCKS;
    localparam int ROW = W * CF;
    localparam int FRAME = H * ROW;
    localparam int LEAD = PH * ROW + PW * CF;  // the first window begins this far before beat 0
    localparam int LEFT = (PW > 0) ? PW * CF : 0;

    // What no later window needs is free. Where all windows begin within one image's extent, the
    // first beat of the window never moves backwards, not even to the next frame, and all before it
    // is free. Else whole rows are freed, after an output row.
    localparam bit FINE = LAST_Y < H && LAST_X < W;
    localparam int FREE_ROWS = (FINE || OH - 1 < H / SH) ? OH - 1 : H / SH;
    localparam int BEHIND = FINE ? LEAD : PH * ROW;
    localparam int FREE_OX = FINE ? SW * CF : 0;
    localparam int FREE_OY = SH * ROW - (OW - 1) * FREE_OX;
    localparam int FREE_END = FRAME - FREE_ROWS * SH * ROW - (OW - 1) * FREE_OX;

    // EH + SH rows, but no more than two frames can use; at least what one window spans.
    localparam int FRAMES = 2 * H + ((PH > 0) ? PH : 0);
    localparam int WANTED = ((EH + SH < FRAMES) ? EH + SH : FRAMES) * ROW;
    localparam int SPAN = FINE ? EH * ROW + LEFT : ((EH > SH + PH) ? EH : SH + PH) * ROW;
    localparam int EXACT = (WANTED > SPAN) ? WANTED : SPAN;
    // A power of two wraps by itself: taken when it is at most a third more.
    localparam int DEPTH = (3 * 2 ** $clog2(EXACT) <= 4 * EXACT) ? 2 ** $clog2(EXACT) : EXACT;
    localparam int AW = (DEPTH > 1) ? $clog2(DEPTH) : 1;
    localparam int BLOCK = (DEPTH > 64 && DEPTH * LANES * DW > 2048) ? 1 : 0;

    // Steps of the reader's number, by the innermost loop that goes on.
    localparam int BACK_KX = (EW - 1) * CF + CB - 1;
    localparam int BACK_B = (EH - 1) * ROW + BACK_KX;
    localparam int BACK_OX = BACK_B + (BLOCKS - 1) * CB;
    localparam int BACK_OY = BACK_OX + (OW - 1) * SW * CF;
    localparam int STEP_KX = DX * CF - CB + 1;
    localparam int STEP_KY = DY * ROW - BACK_KX;
    localparam int STEP_B = CB - BACK_B;
    localparam int STEP_OX = SW * CF - BACK_OX;
    localparam int STEP_OY = SH * ROW - BACK_OY;
    localparam int STEP_END = FRAME - (OH - 1) * SH * ROW - BACK_OY;

    // The reader past the writer, at most: in the frame's last window, at the next one's first.
    localparam int INSIDE = (LAST_Y + EH - 1 - PH) * ROW + (LAST_X + EW - PW) * CF;
    localparam int WAIT = FIRST_PADDED ? LEAD : 0;
    localparam int NEXT = FRAME - LEAD + WAIT;
    localparam int FAR = (INSIDE > NEXT) ? INSIDE : NEXT;
    localparam int GAP = (FAR > DEPTH + LEFT) ? FAR : DEPTH + LEFT;
    localparam int GW = $clog2(GAP + 1) + 1;
    localparam int RW = $clog2(DEPTH + FRAME + 1) + 1;
    localparam int CW = (CB > 1) ? $clog2(CB) : 1;
    localparam int KXW = (KW > 1) ? $clog2(KW) : 1;
    localparam int KYW = (KH > 1) ? $clog2(KH) : 1;
    localparam int BW = (BLOCKS > 1) ? $clog2(BLOCKS) : 1;
    localparam int OXW = (OW > 1) ? $clog2(OW) : 1;
    localparam int OYW = (OH > 1) ? $clog2(OH) : 1;

    // Which loops end with the frame's first beat already.
    localparam bit ONE_C = CB == 1;
    localparam bit ONE_KX = ONE_C && KW == 1;
    localparam bit ONE_KY = ONE_KX && KH == 1;
    localparam bit ONE_B = ONE_KY && BLOCKS == 1;
    localparam bit ONE_OX = ONE_B && OW == 1;
    localparam bit ONE_OY = ONE_OX && OH == 1;
    localparam int FRAME_STEP = ONE_OY ? STEP_END : ONE_OX ? STEP_OY : ONE_B ? STEP_OX :
        ONE_KY ? STEP_B : ONE_KX ? STEP_KY : ONE_C ? STEP_KX : 1;
    localparam logic [GW-1:0] FIRST_BACK = GW'(ONE_OY ? -STEP_END : WAIT - FRAME_STEP);
    localparam int FIRST_FREED = ONE_OY ? FREE_END : (ONE_OX && FREE_ROWS > 0) ? FREE_OY :
        (ONE_B && !ONE_OX) ? FREE_OX : 0;

    // The place of the beat after the one to come.
    logic [CW-1:0] c;
    logic [KXW-1:0] kx;
    logic [KYW-1:0] ky;
    logic [BW-1:0] b;
    logic [OXW-1:0] ox;
    logic [OYW-1:0] oy;
    wire end_c = c == CW'(CB - 1);
    wire end_kx = end_c && kx == KXW'(KW - 1);
    wire end_ky = end_kx && ky == KYW'(KH - 1);
    wire end_b = end_ky && b == BW'(BLOCKS - 1);
    wire end_ox = end_b && ox == OXW'(OW - 1);
    wire end_oy = end_ox && oy == OYW'(OH - 1);

    logic signed [GW-1:0] ahead;
    logic signed [RW-1:0] room;
    logic [AW-1:0] write_address, read_address, read_step;
    logic [AW-1:0] next_read_step;
    logic [GW-1:0] back, next_back;  // minus the step of the reader's number
    logic [RW-1:0] freed, next_freed;  // less 1
    logic enable, pad, next_pad, reads_pad, ends;  // ends: the frame's last beat
    logic [LANES*DW-1:0] read_data;
    wire take = in_valid && in_ready;
    wire go = !ahead[GW-1] || reads_pad;
    wire issue = enable && go;
    assign in_ready = !room[RW-1];

    logic frees_row;
    if (FREE_ROWS == OH - 1) begin : g_every_row
      assign frees_row = 1'b1;
    end else if (FREE_ROWS == 0) begin : g_no_row
      assign frees_row = 1'b0;
    end else begin : g_some_rows
      assign frees_row = oy < OYW'(FREE_ROWS);
    end

    always_comb begin
      next_back      = GW'(-1);
      next_read_step = AW'(1);
      next_freed     = '1;
      if (end_oy) begin
        next_back      = GW'(-STEP_END - WAIT);
        next_read_step = AW'((STEP_END % DEPTH + DEPTH) % DEPTH);
        next_freed     = RW'(FREE_END - 1);
      end else if (end_ox) begin
        next_back      = GW'(-STEP_OY);
        next_read_step = AW'((STEP_OY % DEPTH + DEPTH) % DEPTH);
        if (frees_row) next_freed = RW'(FREE_OY - 1);
      end else if (end_b) begin
        next_back      = GW'(-STEP_OX);
        next_read_step = AW'((STEP_OX % DEPTH + DEPTH) % DEPTH);
        next_freed     = RW'(FREE_OX - 1);
      end else if (end_ky) begin
        next_back      = GW'(-STEP_B);
        next_read_step = AW'((STEP_B % DEPTH + DEPTH) % DEPTH);
      end else if (end_kx) begin
        next_back      = GW'(-STEP_KY);
        next_read_step = AW'((STEP_KY % DEPTH + DEPTH) % DEPTH);
      end else if (end_c) begin
        next_back      = GW'(-STEP_KX);
        next_read_step = AW'((STEP_KX % DEPTH + DEPTH) % DEPTH);
      end
    end

    always_ff @(posedge clk)
      if (rst) begin
        c     <= ONE_C ? '0 : CW'(1);
        kx    <= (ONE_C && !ONE_KX) ? KXW'(1) : '0;
        ky    <= (ONE_KX && !ONE_KY) ? KYW'(1) : '0;
        b     <= (ONE_KY && !ONE_B) ? BW'(1) : '0;
        ox    <= (ONE_B && !ONE_OX) ? OXW'(1) : '0;
        oy    <= (ONE_OX && !ONE_OY) ? OYW'(1) : '0;
        ahead <= GW'(LEAD - WAIT - 1);
        room  <= RW'(DEPTH - BEHIND - 1);
      end else begin
        // One carry chain each: the bit below the sum carries the 1 of a written beat in.
        ahead <= GW'(({ahead, 1'b1} + {issue ? back : '0, take}) >> 1);
        room  <= RW'(({room, 1'b1} + {issue ? freed : '1, !take}) >> 1);
        if (issue) begin
          c <= end_c ? '0 : c + 1'b1;
          if (end_c) kx <= end_kx ? '0 : kx + 1'b1;
          if (end_kx) ky <= end_ky ? '0 : ky + 1'b1;
          if (end_ky) b <= end_b ? '0 : b + 1'b1;
          if (end_b) ox <= end_ox ? '0 : ox + 1'b1;
          if (end_ox) oy <= end_oy ? '0 : oy + 1'b1;
        end
      end

    always_ff @(posedge clk)
      if (rst) begin
        back      <= FIRST_BACK;
        read_step <= AW'((FRAME_STEP % DEPTH + DEPTH) % DEPTH);
        freed     <= RW'(FIRST_FREED - 1);
        pad       <= FIRST_PADDED;
        reads_pad <= 1'b0;
        ends      <= ONE_OY;
      end else if (issue) begin
        back      <= ends ? FIRST_BACK : next_back;
        read_step <= next_read_step;
        freed     <= next_freed;
        pad       <= next_pad;
        reads_pad <= next_pad && !(FIRST_PADDED && ends);
        ends      <= end_oy;
      end

    if (!PADDED) begin : g_unpadded
      assign next_pad = 1'b0;
    end else begin : g_padded
      logic [KH-1:0] row_pad;
      logic [KW-1:0] column_pad;
      for (genvar k = 0; k < KH; k++) begin : g_row
        // Output rows [FIRST, LAST) have this window row inside.
        localparam int BEFORE = PH - k * DY;
        localparam int FIRST = (BEFORE > 0) ? (BEFORE + SH - 1) / SH : 0;
        localparam int LAST = (H + BEFORE > 0) ? (H + BEFORE + SH - 1) / SH : 0;
        if (FIRST >= OH || LAST == 0) assign row_pad[k] = ky == KYW'(k);
        else if (FIRST > 0 && LAST < OH)
          assign row_pad[k] = ky == KYW'(k) && (oy < OYW'(FIRST) || oy >= OYW'(LAST));
        else if (FIRST > 0) assign row_pad[k] = ky == KYW'(k) && oy < OYW'(FIRST);
        else if (LAST < OH) assign row_pad[k] = ky == KYW'(k) && oy >= OYW'(LAST);
        else assign row_pad[k] = 1'b0;
      end
      for (genvar k = 0; k < KW; k++) begin : g_column
        localparam int BEFORE = PW - k * DX;
        localparam int FIRST = (BEFORE > 0) ? (BEFORE + SW - 1) / SW : 0;
        localparam int LAST = (W + BEFORE > 0) ? (W + BEFORE + SW - 1) / SW : 0;
        if (FIRST >= OW || LAST == 0) assign column_pad[k] = kx == KXW'(k);
        else if (FIRST > 0 && LAST < OW)
          assign column_pad[k] = kx == KXW'(k) && (ox < OXW'(FIRST) || ox >= OXW'(LAST));
        else if (FIRST > 0) assign column_pad[k] = kx == KXW'(k) && ox < OXW'(FIRST);
        else if (LAST < OW) assign column_pad[k] = kx == KXW'(k) && ox >= OXW'(LAST);
        else assign column_pad[k] = 1'b0;
      end
      assign next_pad = |row_pad || |column_pad;
    end

    if (DEPTH == 2 ** AW) begin : g_wrap
      always_ff @(posedge clk)
        if (rst) begin
          write_address <= '0;
          read_address  <= AW'((DEPTH - LEAD % DEPTH) % DEPTH);
        end else begin
          if (take) write_address <= write_address + 1'b1;
          if (issue) read_address <= read_address + read_step;
        end
    end else begin : g_modulo
      wire [AW-1:0] plain = read_address + read_step;
      wire [AW:0] wrapped = {1'b0, read_address} + ({1'b0, read_step} - (AW + 1)'(DEPTH));
      always_ff @(posedge clk)
        if (rst) begin
          write_address <= '0;
          read_address  <= AW'((DEPTH - LEAD % DEPTH) % DEPTH);
        end else begin
          if (take) write_address <= (write_address == AW'(DEPTH - 1)) ? '0 : write_address + 1'b1;
          if (issue) read_address <= wrapped[AW] ? plain : wrapped[AW-1:0];
        end
    end

    // Block memories give their words late in the cycle: a register more.
    localparam int STAGES = 1 + BLOCK;
    logic [STAGES-1:0] read_valid, read_pad;
    logic [LANES*DW-1:0] kept_data;
    always_ff @(posedge clk)
      if (rst) read_valid <= '0;
      else if (enable) read_valid <= STAGES'({read_valid, go});
    always_ff @(posedge clk) if (enable) read_pad <= STAGES'({read_pad, pad});
    if (BLOCK != 0) begin : g_register
      always_ff @(posedge clk) if (enable) kept_data <= read_data;
    end else begin : g_wire
      assign kept_data = read_data;
    end

    mase_window_memory #(
        .W(LANES * DW),
        .DEPTH(DEPTH),
        .BLOCK(BLOCK)
    ) ring (
        .clk,
        .write(take),
        .write_address,
        .write_data(in_data),
        .read(enable),
        .read_address,
        .read_data
    );

    mase_skid #(
        .W(LANES * DW)
    ) out_skid (
        .clk,
        .rst,
        .in_valid(read_valid[STAGES-1]),
        .in_ready(enable),
        .in_data(read_pad[STAGES-1] ? {LANES{PAD}} : kept_data),
        .out_valid,
        .out_ready,
        .out_data
    );
  end
endmodule
