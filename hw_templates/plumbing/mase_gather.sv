// SPDX-License-Identifier: Apache-2.0
// Any choice and order of a frame's beats: of every IN beats OUT are given, those that the image
// names, repeated ones too. Word r of the image is the place of output beat r*RUN; the beats up to
// the next word follow it in the input. With PADS 1 its highest bit says that the run is OUTSIDE.
//
// Two frames have room. Beat i of a frame is read when START + i beats of it are there, or all; the
// last one when all are.
module mase_gather #(
    parameter int IN = 4,
    parameter int OUT = 4,
    parameter int RUN = 1,
    parameter int START = 4,
    parameter int LANES = 1,
    parameter int DW = 8,
    parameter int PADS = 0,
    parameter logic [DW-1:0] OUTSIDE = '0,
    parameter FILE = ""
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
  localparam int RUNS = OUT / RUN;
  localparam int AW = (IN > 1) ? $clog2(IN) : 1;
  localparam int NW = $clog2(IN + 1);
  localparam int RW = (RUNS > 1) ? $clog2(RUNS) : 1;
  localparam int WORD = AW + ((PADS != 0) ? 1 : 0);
  localparam int MW = $clog2(2 * IN);
  localparam int ROM_BLOCK = (RUNS * WORD >= 8192) ? 1 : 0;
  localparam int BLOCK = (2 * IN > 64 && 2 * IN * LANES * DW > 2048) ? 1 : 0;

  // Writer.
  logic [AW-1:0] written;  // beats of the frame that comes in
  logic write_half;
  logic [1:0] full;  // frames that are there as a whole
  wire take = in_valid && in_ready;
  wire fills = take && written == AW'(IN - 1);
  assign in_ready = !full[1];

  // Reader. The image is read a word ahead: `next` is the one after that in `word`.
  logic [RW-1:0] next;
  logic primed, read_half, enable, issue, end_run, last;
  logic [NW-1:0] need;  // beats that must be there
  logic [WORD-1:0] word;
  logic [AW-1:0] address;
  wire empties = issue && last;
  wire advance = !primed || (issue && end_run);
  assign last = end_run && next == '0;
  assign issue = enable && (full != '0 || (!last && {1'b0, written} >= (AW + 1)'(need)));

  always_ff @(posedge clk)
    if (rst) begin
      written <= '0;
      write_half <= 1'b0;
      read_half <= 1'b0;
      full <= '0;
      next <= '0;
      primed <= 1'b0;
      need <= NW'(START);
    end else begin
      primed <= 1'b1;
      if (take) written <= fills ? '0 : written + 1'b1;
      write_half <= write_half ^ fills;
      read_half <= read_half ^ empties;
      if (fills && !empties) full <= full + 1'b1;
      else if (empties && !fills) full <= full - 1'b1;
      if (advance) next <= (next == RW'(RUNS - 1)) ? '0 : next + 1'b1;
      if (issue) need <= last ? NW'(START) : (need == NW'(IN)) ? need : need + 1'b1;
    end

  mase_rom #(
      .W(WORD),
      .DEPTH(RUNS),
      .FILE(FILE),
      .BLOCK(ROM_BLOCK)
  ) places (
      .clk,
      .enable(advance),
      .address(next),
      .data(word)
  );

  if (RUN == 1) begin : g_single
    assign end_run = 1'b1;
    assign address = word[AW-1:0];
  end else begin : g_run
    localparam int OW = $clog2(RUN);
    logic [OW-1:0] offset;
    assign end_run = offset == OW'(RUN - 1);
    assign address = word[AW-1:0] + AW'(offset);
    always_ff @(posedge clk)
      if (rst) offset <= '0;
      else if (issue) offset <= end_run ? '0 : offset + 1'b1;
  end

  logic valid;
  logic [LANES*DW-1:0] read_data, data;
  always_ff @(posedge clk)
    if (rst) valid <= 1'b0;
    else if (enable) valid <= issue;
  if (PADS == 0) begin : g_inside
    assign data = read_data;
  end else begin : g_pads
    logic outside;
    always_ff @(posedge clk) if (enable) outside <= word[WORD-1];
    assign data = outside ? {LANES{OUTSIDE}} : read_data;
  end

  mase_window_memory #(
      .W(LANES * DW),
      .DEPTH(2 * IN),
      .BLOCK(BLOCK)
  ) frames (
      .clk,
      .write(take),
      .write_address(MW'({written, write_half})),
      .write_data(in_data),
      .read(enable),
      .read_address(MW'({address, read_half})),
      .read_data
  );

  mase_skid #(
      .W(LANES * DW)
  ) buffer (
      .clk,
      .rst,
      .in_valid(valid),
      .in_ready(enable),
      .in_data(data),
      .out_valid,
      .out_ready,
      .out_data
  );
endmodule
