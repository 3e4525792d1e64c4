// SPDX-License-Identifier: Apache-2.0
// mase_matrix_memory: keeps the matrices of a frame whole, SETS of NF*PE outputs and SF*SIMD inputs, and gives words of
// SIMD weights for each of PE outputs: word (set*NF + n)*SF + s has weight p, c at bit (p*SIMD + c)*W. Two frames have room.
//
// A beat that comes in has SIMD weights of one output, or with TRANSPOSED 1 those of PE outputs for one input. Beats follow each
// other row by row, a row being one output (one input): all rows of a set, or with INTERLEAVED 1 the same row of every set.
// `there` says that a whole frame can be read; `done`, in the cycle of its last read, that it will not be read again.
module mase_matrix_memory #(
    parameter int SF = 2,
    parameter int NF = 2,
    parameter int SETS = 1,
    parameter int SIMD = 2,
    parameter int PE = 2,
    parameter int W = 8,
    parameter int TRANSPOSED = 0,
    parameter int INTERLEAVED = 0,
    localparam int WORDS = SETS * NF * SF,
    localparam int WB = (WORDS > 1) ? $clog2(WORDS) : 1,
    localparam int BANKS = (TRANSPOSED != 0) ? SIMD : PE,
    localparam int LANES = (TRANSPOSED != 0) ? PE : SIMD
) (
    input  logic                 clk,
    input  logic                 rst,
    input  logic                 in_valid,
    output logic                 in_ready,
    input  logic [LANES*W-1:0]   in_data,
    output logic                 there,
    input  logic                 done,
    input  logic                 read,
    input  logic [WB-1:0]        address,
    output logic [PE*SIMD*W-1:0] data
);
  // Rows are dealt out to banks in turn. Sizes of the writer's loops, innermost first when rows of a set follow each
  // other, and how far apart in a bank what they count lies.
  localparam int BLOCKS = (TRANSPOSED != 0) ? NF : SF;
  localparam int BLOCK_STEP = (TRANSPOSED != 0) ? SF : 1;
  localparam int ROWS = (TRANSPOSED != 0) ? SF : NF;
  localparam int ROW_STEP = (TRANSPOSED != 0) ? 1 : SF;
  localparam int SET_STEP = NF * SF;
  localparam int BLOCKS_BACK = (BLOCKS - 1) * BLOCK_STEP;
  localparam int ROWS_BACK = (ROWS - 1) * ROW_STEP;
  localparam int SETS_BACK = (SETS - 1) * SET_STEP;

  localparam int BLB = (BLOCKS > 1) ? $clog2(BLOCKS) : 1;
  localparam int BAB = (BANKS > 1) ? $clog2(BANKS) : 1;
  localparam int RB = (ROWS > 1) ? $clog2(ROWS) : 1;
  localparam int SB = (SETS > 1) ? $clog2(SETS) : 1;
  logic [BLB-1:0] block;
  logic [BAB-1:0] bank;
  logic [RB-1:0] row;
  logic [SB-1:0] set;
  logic [1:0] full;  // frames that are there as a whole
  wire take = in_valid && in_ready;
  wire block_end = block == BLB'(BLOCKS - 1);
  wire bank_end = bank == BAB'(BANKS - 1);
  wire row_end = row == RB'(ROWS - 1);
  wire set_end = set == SB'(SETS - 1);
  wire set_moves = block_end && (INTERLEAVED != 0 || (bank_end && row_end));
  wire bank_moves = block_end && (INTERLEAVED == 0 || set_end);
  wire row_moves = bank_moves && bank_end;
  wire fills = take && block_end && bank_end && row_end && set_end;
  assign in_ready = !full[1];
  assign there = full != '0;

  logic half, read_half;
  always_ff @(posedge clk)
    if (rst) begin
      block <= '0;
      bank <= '0;
      row <= '0;
      set <= '0;
      full <= '0;
      half <= 1'b0;
      read_half <= 1'b0;
    end else begin
      if (take) begin
        block <= block_end ? '0 : block + 1'b1;
        if (bank_moves) bank <= bank_end ? '0 : bank + 1'b1;
        if (row_moves) row <= row_end ? '0 : row + 1'b1;
        if (set_moves) set <= set_end ? '0 : set + 1'b1;
      end
      half <= half ^ fills;
      read_half <= read_half ^ done;
      if (fills && !done) full <= full + 1'b1;
      else if (done && !fills) full <= full - 1'b1;
    end

  logic write, write_half;
  logic [BAB-1:0] write_bank;
  logic [WB-1:0] write_address;
  logic [LANES*W-1:0] write_data;
  if (WORDS == 1) begin : g_now
    assign write = take;
    assign write_half = half;
    assign write_bank = bank;
    assign write_address = '0;
    assign write_data = in_data;
    logic unused_moves;
    assign unused_moves = set_moves;
  end else begin : g_later
    // A beat is written a cycle after it was taken, so that all that its place follows from is in registers. What is read
    // first of a frame is not the word of its last beat, which is the last word.
    localparam int BACK = BLOCKS_BACK + ROWS_BACK + SETS_BACK;
    logic [WB-1:0] move;  // from the address of the last beat to that of the next one
    function automatic logic [WB-1:0] distance(input logic blocks, input logic sets,
                                               input logic ends_of_sets, input logic rows,
                                               input logic ends_of_rows);
      int total;
      total = blocks ? -BLOCKS_BACK : BLOCK_STEP;
      if (sets) total += ends_of_sets ? -SETS_BACK : SET_STEP;
      if (rows) total += ends_of_rows ? -ROWS_BACK : ROW_STEP;
      distance = WB'(total);
    endfunction
    always_ff @(posedge clk)
      if (rst) begin
        write <= 1'b0;
        write_address <= WB'(BACK);
        move <= WB'(-BACK);
      end else begin
        write <= take;
        if (take) begin
          write_address <= write_address + move;
          move <= distance(block_end, set_moves, set_end, row_moves, row_end);
        end
      end
    always_ff @(posedge clk) begin
      write_half <= half;
      write_bank <= bank;
      write_data <= in_data;
    end
  end

  localparam int MB = $clog2(2 * WORDS);
  localparam int IN_BLOCK = (2 * WORDS > 64 && 2 * WORDS * LANES * W > 2048) ? 1 : 0;
  for (genvar b = 0; b < BANKS; b++) begin : g_bank
    logic [LANES*W-1:0] word;
    mase_window_memory #(
        .W(LANES * W),
        .DEPTH(2 * WORDS),
        .BLOCK(IN_BLOCK)
    ) memory (
        .clk,
        .write(write && write_bank == BAB'(b)),
        .write_address(MB'({write_address, write_half})),
        .write_data(write_data),
        .read,
        .read_address(MB'({address, read_half})),
        .read_data(word)
    );
    for (genvar l = 0; l < LANES; l++) begin : g_lane
      localparam int PLACE = (TRANSPOSED != 0) ? l * SIMD + b : b * SIMD + l;
      assign data[PLACE*W+:W] = word[l*W+:W];
    end
  end

endmodule
