// SPDX-License-Identifier: Apache-2.0
// mase_multiply_accumulate: the datapath of linear and depthwise. ROWS rows of weights follow each
// other, COLUMNS words each; a row gives one beat of PE results, each the sum of SIMD products per
// step plus bias. The operands x of a step are offered a cycle after `step` and hold while enable
// is low; all PE share them (SHARED = 1), or each has its own SIMD.
//
// Stages, all moved by one enable, the registered ready of the output's skid: operands, products,
// TREE stages of additions (see mase_dot), accumulator; requantisation feeds the skid. A beat that is
// not held up is at the output 4 + TREE cycles after the last step of its row.
module mase_multiply_accumulate #(
    parameter int COLUMNS = 8,
    parameter int ROWS = 8,
    parameter int SHARED = 1,
    parameter int SIMD = 8,
    parameter int PE = 8,
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int WW = 6,
    parameter int WSIGNED = 1,
    parameter int HAS_BIAS = 1,
    parameter int BW = 16,
    parameter int ACCW = 20,
    parameter int OW = 8,
    parameter int SHIFT = 8,
    parameter int DIVISOR = 1,
    parameter int ROUND = 1,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127,
    parameter int MULTIPLIER = 0,
    parameter WEIGHT_FILE = "",
    parameter BIAS_FILE = "",
    localparam int CB = (COLUMNS > 1) ? $clog2(COLUMNS) : 1,
    localparam int XW = ((SHARED != 0) ? 1 : PE) * SIMD * AW
) (
    input  logic             clk,
    input  logic             rst,
    output logic             enable,
    input  logic             step,     // only while enabled
    input  logic [CB-1:0]    column,   // of the step: 0 to COLUMNS - 1
    input  logic             row_end,  // column is the last one
    input  logic [XW-1:0]    x,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [PE*OW-1:0] out_data
);

  localparam int LEVELS = $clog2(SIMD);
  localparam int TREE = (LEVELS <= 2) ? 1 : 2 + (LEVELS - 2) / 2;
  localparam int LAST = 2 + TREE;  // the stage of the sums; the accumulator follows

  localparam int WORDS = ROWS * COLUMNS;
  localparam int WORD = PE * SIMD * WW;
  localparam int WB = (WORDS > 1) ? $clog2(WORDS) : 1;
  logic [WB-1:0] weight_address;
  logic [WORD-1:0] weights;
  if (ROWS == 1) begin : g_row_address
    assign weight_address = column;
  end else begin : g_address
    always_ff @(posedge clk)
      if (rst) weight_address <= '0;
      else if (step)
        weight_address <= (weight_address == WB'(WORDS - 1)) ? '0 : weight_address + 1'b1;
  end
  mase_rom #(
      .W(WORD),
      .DEPTH(WORDS),
      .FILE(WEIGHT_FILE),
      .BLOCK((WORDS >= 8 && WORDS * WORD >= 1024) ? 1 : 0)
  ) weight_rom (
      .clk,
      .enable,
      .address(weight_address),
      .data(weights)
  );

  // What travels with a step: bit i belongs to stage i.
  logic [LAST:1] valid;
  logic [LAST:1] first;
  logic [LAST:1] last;
  logic acc_last;
  always_ff @(posedge clk) begin
    if (rst) begin
      valid <= '0;
      acc_last <= 1'b0;
    end else if (enable) begin
      valid <= {valid[LAST-1:1], step};
      acc_last <= valid[LAST] && last[LAST];
    end
  end
  always_ff @(posedge clk)
    if (enable) begin
      first <= {first[LAST-1:1], column == '0};
      last  <= {last[LAST-1:1], row_end};
    end

  // The biases are read one stage before their use.
  logic [PE*ACCW-1:0] biases;
  if (HAS_BIAS != 0) begin : g_bias
    localparam int RB = (ROWS > 1) ? $clog2(ROWS) : 1;
    logic [RB-1:0] address;
    logic [PE*BW-1:0] words;
    logic next;
    assign next = enable && valid[LAST-1] && first[LAST-1];
    always_ff @(posedge clk)
      if (rst) address <= '0;
      else if (next) address <= (address == RB'(ROWS - 1)) ? '0 : address + 1'b1;
    mase_rom #(
        .W(PE * BW),
        .DEPTH(ROWS),
        .FILE(BIAS_FILE),
        .BLOCK((ROWS >= 8 && ROWS * PE * BW >= 1024) ? 1 : 0)
    ) bias_rom (
        .clk,
        .enable(next),
        .address,
        .data(words)
    );
    for (genvar p = 0; p < PE; p++) begin : g_extend
      assign biases[p*ACCW+:ACCW] = ACCW'($signed(words[p*BW+:BW]));
    end
  end else begin : g_no_bias
    assign biases = '0;
  end

  logic [PE*OW-1:0] results;
  for (genvar p = 0; p < PE; p++) begin : g_pe
    logic [ACCW-1:0] sum, acc;
    logic carry;
    mase_dot #(
        .SIMD(SIMD),
        .AW(AW),
        .ASIGNED(ASIGNED),
        .WW(WW),
        .WSIGNED(WSIGNED),
        .W(ACCW),
        .MULTIPLIER(MULTIPLIER)
    ) products (
        .clk,
        .enable,
        .x(x[((SHARED!=0)?0 : p)*SIMD*AW+:SIMD*AW]),
        .w(weights[p*SIMD*WW+:SIMD*WW]),
        .sum,
        .carry
    );
    mase_accumulate #(
        .W(ACCW),
        .HAS_CARRY((MULTIPLIER == 2) ? 1 : 0)
    ) accumulator (
        .clk,
        .enable(enable && valid[LAST]),
        .first(first[LAST]),
        .bias(biases[p*ACCW+:ACCW]),
        .sum,
        .carry,
        .acc
    );
    mase_requantise #(
        .IW(ACCW),
        .OW(OW),
        .SHIFT(SHIFT),
        .DIVISOR(DIVISOR),
        .ROUND(ROUND),
        .LOW(LOW),
        .HIGH(HIGH)
    ) round (
        .in(acc),
        .out(results[p*OW+:OW])
    );
  end

  mase_skid #(
      .W(PE * OW)
  ) buffer (
      .clk,
      .rst,
      .in_valid(acc_last),
      .in_ready(enable),
      .in_data(results),
      .out_valid,
      .out_ready,
      .out_data
  );

endmodule
