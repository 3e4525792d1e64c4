// SPDX-License-Identifier: Apache-2.0
// mase_matmul: y[o] = sum_i b[o][i] * a[i], rows of a stream by the matrices that another stream brings: for rows of SF beats of
// SIMD inputs NF beats of PE outputs. A frame has SETS matrices, each for REPEAT rows, one after another, ROUNDS times. The matrices
// are kept whole (see mase_matrix_memory for TRANSPOSED and INTERLEAVED), those of the next frame come in meanwhile.
//
// A row is taken when all matrices of its frame are there. Then everything is as in mase_linear: without stalls a row takes SF*NF
// cycles, and its first beat is given SF + 6 + TREE cycles after its first beat was taken.
module mase_matmul #(
    parameter int SF = 2,
    parameter int NF = 2,
    parameter int SETS = 1,
    parameter int REPEAT = 1,
    parameter int ROUNDS = 1,
    parameter int SIMD = 2,
    parameter int PE = 2,
    parameter int TRANSPOSED = 0,
    parameter int INTERLEAVED = 0,
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int WW = 8,
    parameter int WSIGNED = 1,
    parameter int ACCW = 20,
    parameter int OW = 8,
    parameter int SHIFT = 8,
    parameter int DIVISOR = 1,
    parameter int ROUND = 1,
    parameter int HALVED = 0,
    parameter logic signed [63:0] START = 64'sd0,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127,
    parameter int MULTIPLIER = 0,
    parameter int PACK = 1,
    parameter int PITCH = 0,
    parameter int KNOWN = 0,
    parameter int AFLOAT = -1,
    parameter int AZERO = 1,
    parameter int AN = 8,
    parameter int WFLOAT = -1,
    parameter int WZERO = 1,
    parameter int WN = 8,
    parameter int TERM_STAGES = 0,
    parameter int DECODE = 0,
    localparam int LANES = (TRANSPOSED != 0) ? PE : SIMD
) (
    input  logic                clk,
    input  logic                rst,
`ifdef MASE_RELOAD
    input  logic [56:0]         reload,
`endif
    input  logic                a_valid,
    output logic                a_ready,
    input  logic [SIMD*AW-1:0]  a_data,
    input  logic                b_valid,
    output logic                b_ready,
    input  logic [LANES*WW-1:0] b_data,
    output logic                out_valid,
    input  logic                out_ready,
    output logic [PE*OW-1:0]    out_data
);

  localparam int CB = (SF > 1) ? $clog2(SF) : 1;
  logic [CB-1:0] column;
  logic [SIMD*AW-1:0] x;
  logic enable, there, step, column_end, pass_end;
  assign column_end = column == CB'(SF - 1);
  always_ff @(posedge clk)
    if (rst) column <= '0;
    else if (step) column <= column_end ? '0 : column + 1'b1;

  if (NF == 1) begin : g_direct
    assign a_ready  = enable && there;
    assign step     = a_valid && a_ready;
    assign pass_end = 1'b1;
    always_ff @(posedge clk) if (enable) x <= a_data;
  end else begin : g_replay
    localparam int NB = $clog2(NF);
    logic [NB-1:0] pass;
    assign a_ready  = enable && there && pass == '0;
    assign step     = enable && there && (a_valid || pass != '0);
    assign pass_end = pass == NB'(NF - 1);
    always_ff @(posedge clk)
      if (rst) pass <= '0;
      else if (step && column_end) pass <= pass_end ? '0 : pass + 1'b1;
    mase_replay #(
        .W(SIMD * AW),
        .DEPTH(SF)
    ) row (
        .clk,
        .enable,
        .write(a_valid && a_ready),
        .address(column),
        .in_data(a_data),
        .data(x)
    );
  end

  // The word of the step: the set's words over and over, then those of the next one.
  localparam int WORDS = SETS * NF * SF;
  localparam int WB = (WORDS > 1) ? $clog2(WORDS) : 1;
  localparam int RB = (REPEAT > 1) ? $clog2(REPEAT) : 1;
  localparam int OB = (ROUNDS > 1) ? $clog2(ROUNDS) : 1;
  logic [WB-1:0] word, set_word;
  logic [RB-1:0] repeats;
  logic [OB-1:0] round;
  wire row_end = step && column_end && pass_end;
  wire set_end = row_end && repeats == RB'(REPEAT - 1);
  wire last_set = word == WB'(WORDS - 1);
  wire round_end = set_end && last_set;
  wire done = round_end && round == OB'(ROUNDS - 1);
  wire [WB-1:0] next = last_set ? '0 : word + 1'b1;
  always_ff @(posedge clk)
    if (rst) begin
      word <= '0;
      set_word <= '0;
      repeats <= '0;
      round <= '0;
    end else begin
      if (step) word <= (row_end && !set_end) ? set_word : next;
      if (set_end) set_word <= next;
      if (row_end) repeats <= set_end ? '0 : repeats + 1'b1;
      if (round_end) round <= done ? '0 : round + 1'b1;
    end

  logic [PE*SIMD*WW-1:0] words;
  mase_matrix_memory #(
      .SF(SF),
      .NF(NF),
      .SETS(SETS),
      .SIMD(SIMD),
      .PE(PE),
      .W(WW),
      .TRANSPOSED(TRANSPOSED),
      .INTERLEAVED(INTERLEAVED)
  ) matrices (
      .clk,
      .rst,
      .in_valid(b_valid),
      .in_ready(b_ready),
      .in_data(b_data),
      .there,
      .done,
      .read(enable),
      .address(word),
      .data(words)
  );

  mase_products #(
      .ROWS(1),
      .SHARES(1),
      .SIMD(SIMD),
      .PE(PE),
      .AW(AW),
      .ASIGNED(ASIGNED),
      .WW(WW),
      .WSIGNED(WSIGNED),
      .HAS_BIAS(0),
      .ACCW(ACCW),
      .OW(OW),
      .SHIFT(SHIFT),
      .DIVISOR(DIVISOR),
      .ROUND(ROUND),
      .HALVED(HALVED),
      .START(START),
      .LOW(LOW),
      .HIGH(HIGH),
      .MULTIPLIER(MULTIPLIER),
      .PACK(PACK),
      .PITCH(PITCH),
      .AFLOAT(AFLOAT),
      .AZERO(AZERO),
      .AN(AN),
      .WFLOAT(WFLOAT),
      .WZERO(WZERO),
      .WN(WN),
      .TERM_STAGES(TERM_STAGES),
      .DECODE(DECODE),
      .KNOWN(KNOWN)
  ) products (
      .clk,
      .rst,
`ifdef MASE_RELOAD
      .reload,
`endif
      .enable,
      .step,
      .row_start(column == '0),
      .row_end(column_end),
      .x,
      .words,
      .out_valid,
      .out_ready,
      .out_data
  );

endmodule
