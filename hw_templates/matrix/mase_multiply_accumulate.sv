// SPDX-License-Identifier: Apache-2.0
// mase_multiply_accumulate: the datapath of linear and depthwise. ROWS rows of weights follow each
// other, COLUMNS words each; a row gives one beat of PE results, each the sum of SIMD products per
// step plus bias, or START where there is none. HALVED says that biases and START have half of the divisor in
// them, which rounding to nearest adds. The operands x of a step are offered a cycle after `step` and hold while enable
// is low: SHARES times SIMD of them, each SIMD for as many PE that follow each other.
//
// Stages, all moved by one enable, the registered ready of the output's skid: words read from memory, the
// same once more, operands (Booth rows have none), products, TREE stages of additions (see mase_dot), accumulator,
// rounding; the choice of a bound feeds the skid. A beat that is not held up is at the output 7 + TREE cycles after
// the last step of its row, 6 + TREE with Booth rows. OPERAND_STAGES more registers in front of all others, on the way from
// where operands are kept to multipliers far from there, delay it by as many; so do PRODUCT_STAGES more registers
// between the tool's multipliers and what adds their products.
module mase_multiply_accumulate #(
    parameter int COLUMNS = 8,
    parameter int ROWS = 8,
    parameter int SHARES = 1,
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
    parameter int HALVED = 0,
    parameter logic signed [63:0] START = 64'sd0,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127,
    parameter int MULTIPLIER = 0,
    parameter int PACK = 1,  // outputs whose weights share a multiplier: see mase_dot_packed
    parameter int PITCH = 0,
    parameter int KNOWN = 0,
    parameter int OPERAND_STAGES = 0,
    parameter int PRODUCT_STAGES = 0,
`ifdef MASE_RELOAD
    parameter int WEIGHT_BASE = 0,
    parameter int BIAS_BASE = 0,
`endif
    parameter WEIGHT_FILE = "",
    parameter BIAS_FILE = "",
    localparam int CB = (COLUMNS > 1) ? $clog2(COLUMNS) : 1,
    localparam int XW = SHARES * SIMD * AW
) (
    input  logic             clk,
    input  logic             rst,
`ifdef MASE_RELOAD
    input  logic [56:0]      reload,
`endif
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
  localparam int BOOTH_TREE = (LEVELS <= 2) ? 1 : 2 + (LEVELS - 2) / 2;
  localparam int CHAIN_TREE = (SIMD < 8) ? (SIMD + 1) / 2 : 4 + $clog2((SIMD + 7) / 8);
  localparam int TREE = (MULTIPLIER == 2) ? BOOTH_TREE : CHAIN_TREE;
  localparam int UNPACK = (PACK > 1 && KNOWN > 1) ? 1 : 0;
  localparam int LAST = ((MULTIPLIER == 2) ? 3 : 4 + PRODUCT_STAGES) + TREE + UNPACK;  // the stage of the sums; the accumulator follows

  localparam int READERS = PE / SHARES;  // of an operand

  // Operands, and what belongs to their step, `s` stages later.
  logic [OPERAND_STAGES:0] steps, firsts, ends;
  logic [XW-1:0] moved[0:OPERAND_STAGES];
  logic moved_step;
  assign steps[0]   = step;
  assign firsts[0]  = column == '0;
  assign ends[0]    = row_end;
  assign moved[0]   = x;
  assign moved_step = enable && steps[OPERAND_STAGES];
  for (genvar s = 0; s < OPERAND_STAGES; s++) begin : g_stage
    logic next_step, next_first, next_end;
    always_ff @(posedge clk)
      if (rst) next_step <= 1'b0;
      else if (enable) next_step <= steps[s];
    always_ff @(posedge clk)
      if (enable) begin
        next_first <= firsts[s];
        next_end   <= ends[s];
      end
    assign steps[s+1]  = next_step;
    assign firsts[s+1] = next_first;
    assign ends[s+1]   = next_end;
    mase_operands #(
        .W(XW),
        .SHARED((READERS > 1) ? 1 : 0)
    ) stage (
        .clk,
        .rst,
        .enable,
        .in(moved[s]),
        .out(moved[s+1])
    );
  end

  localparam int WORDS = ROWS * COLUMNS;
  localparam int WORD = PE * SIMD * WW;
  localparam int WB = (WORDS > 1) ? $clog2(WORDS) : 1;
  logic [WB-1:0] weight_address;
  logic [WORD-1:0] read_weights, weights;
  logic [XW-1:0] operands;
  if (ROWS == 1) begin : g_row_address
    logic [CB-1:0] columns[0:OPERAND_STAGES];
    assign columns[0] = column;
    for (genvar s = 0; s < OPERAND_STAGES; s++) begin : g_column
      logic [CB-1:0] next;
      always_ff @(posedge clk) if (enable) next <= columns[s];
      assign columns[s+1] = next;
    end
    assign weight_address = columns[OPERAND_STAGES];
  end else begin : g_address
    always_ff @(posedge clk)
      if (rst) weight_address <= '0;
      else if (moved_step)
        weight_address <= (weight_address == WB'(WORDS - 1)) ? '0 : weight_address + 1'b1;
  end
  mase_rom #(
`ifdef MASE_RELOAD
      .BASE(WEIGHT_BASE),
`endif
      .W(WORD),
      .DEPTH(WORDS),
      .FILE(WEIGHT_FILE),
      .BLOCK((WORDS >= 8 && WORDS * WORD >= 1024) ? 1 : 0)
  ) weight_rom (
      .clk,
`ifdef MASE_RELOAD
      .reload,
`endif
      .enable,
      .address(weight_address),
      .data(read_weights)
  );
  // Block memories give their words late in the cycle.
  always_ff @(posedge clk) if (enable) weights <= read_weights;
  mase_operands #(
      .W(XW),
      .SHARED((READERS > 1) ? 1 : 0)
  ) kept_operands (
      .clk,
      .rst,
      .enable,
      .in(moved[OPERAND_STAGES]),
      .out(operands)
  );

  // What travels with a step: bit i belongs to stage i.
  logic [LAST:1] valid;
  logic [LAST:1] first;
  logic [LAST:1] last;
  logic acc_last, rounded_last;
  always_ff @(posedge clk) begin
    if (rst) begin
      valid <= '0;
      acc_last <= 1'b0;
      rounded_last <= 1'b0;
    end else if (enable) begin
      valid <= {valid[LAST-1:1], moved_step};
      acc_last <= valid[LAST] && last[LAST];
      rounded_last <= acc_last;
    end
  end
  always_ff @(posedge clk)
    if (enable) begin
      first <= {first[LAST-1:1], firsts[OPERAND_STAGES]};
      last  <= {last[LAST-1:1], ends[OPERAND_STAGES]};
    end

  // The biases are read two stages before their use.
  logic [PE*ACCW-1:0] biases;
  if (HAS_BIAS != 0) begin : g_bias
    localparam int RB = (ROWS > 1) ? $clog2(ROWS) : 1;
    logic [RB-1:0] address;
    logic [PE*BW-1:0] read_words, words;
    logic next;
    assign next = enable && valid[LAST-2] && first[LAST-2];
    always_ff @(posedge clk)
      if (rst) address <= '0;
      else if (next) address <= (address == RB'(ROWS - 1)) ? '0 : address + 1'b1;
    mase_rom #(
`ifdef MASE_RELOAD
        .BASE(BIAS_BASE),
`endif
        .W(PE * BW),
        .DEPTH(ROWS),
        .FILE(BIAS_FILE),
        .BLOCK((ROWS >= 8 && ROWS * PE * BW >= 1024) ? 1 : 0)
    ) bias_rom (
        .clk,
`ifdef MASE_RELOAD
        .reload,
`endif
        .enable,
        .address,
        .data(read_words)
    );
    always_ff @(posedge clk) if (enable) words <= read_words;
    for (genvar p = 0; p < PE; p++) begin : g_extend
      assign biases[p*ACCW+:ACCW] = ACCW'($signed(words[p*BW+:BW]));
    end
  end else begin : g_no_bias
    assign biases = {PE{ACCW'(START)}};
  end

  // Operands as mase_dot wants them; shared ones are made late once.
  logic [XW-1:0] late_operands;
  logic [WORD-1:0] late_weights;
  if (MULTIPLIER == 2 || SIMD <= 2) begin : g_together
    assign late_operands = operands;
    assign late_weights  = weights;
  end else begin : g_skewed
    for (genvar s = 0; s < SHARES; s++) begin : g_operands
      mase_dot_skew #(
          .SIMD(SIMD),
          .W(AW),
          .SHARED((READERS > 1) ? 1 : 0)
      ) skew (
          .clk,
          .rst,
          .enable,
          .in(operands[s*SIMD*AW+:SIMD*AW]),
          .out(late_operands[s*SIMD*AW+:SIMD*AW])
      );
    end
    for (genvar p = 0; p < PE; p++) begin : g_weights
      mase_dot_skew #(
          .SIMD(SIMD),
          .W(WW),
          .SHARED((PACK > 1) ? 2 : 0)
      ) skew (
          .clk,
          .rst,
          .enable,
          .in(weights[p*SIMD*WW+:SIMD*WW]),
          .out(late_weights[p*SIMD*WW+:SIMD*WW])
      );
    end
  end

  // Packs of outputs that read the same operands; the last of them may be smaller.
  logic [PE*ACCW-1:0] sums;
  logic [PE-1:0] carries;
  for (genvar p = 0; p < PE; p++) begin : g_products
    if (PACK == 1) begin : g_one
      mase_dot #(
          .SIMD(SIMD),
          .AW(AW),
          .ASIGNED(ASIGNED),
          .WW(WW),
          .WSIGNED(WSIGNED),
          .W(ACCW),
          .MULTIPLIER(MULTIPLIER),
          .PRODUCT_STAGES(PRODUCT_STAGES)
      ) products (
          .clk,
          .enable,
          .x(late_operands[p/READERS*SIMD*AW+:SIMD*AW]),
          .w(late_weights[p*SIMD*WW+:SIMD*WW]),
          .sum(sums[p*ACCW+:ACCW]),
          .carry(carries[p])
      );
    end else if (p % READERS % PACK == 0) begin : g_pack
      localparam int LEFT = READERS - p % READERS;
      localparam int COUNT = (LEFT < PACK) ? LEFT : PACK;
      mase_dot_packed #(
          .SIMD(SIMD),
          .AW(AW),
          .ASIGNED(ASIGNED),
          .WW(WW),
          .WSIGNED(WSIGNED),
          .W(ACCW),
          .COUNT(COUNT),
          .PITCH(PITCH),
          .KNOWN(KNOWN),
          .DSP(MULTIPLIER),
          .PRODUCT_STAGES(PRODUCT_STAGES)
      ) products (
          .clk,
          .enable,
          .x(late_operands[p/READERS*SIMD*AW+:SIMD*AW]),
          .w(late_weights[p*SIMD*WW+:COUNT*SIMD*WW]),
          .sum(sums[p*ACCW+:COUNT*ACCW]),
          .carry(carries[p+:COUNT])
      );
    end
  end

  logic [PE*OW-1:0] results;
  for (genvar p = 0; p < PE; p++) begin : g_pe
    localparam int CARRIES = (KNOWN < 2 && p % READERS % PACK != 0) ? 1 : 0;
    logic [ACCW-1:0] acc;
    mase_accumulate #(
        .W(ACCW),
        .HAS_CARRY((MULTIPLIER == 2) ? 1 : CARRIES)
    ) accumulator (
        .clk,
        .enable(enable && valid[LAST]),
        .first(first[LAST]),
        .bias(biases[p*ACCW+:ACCW]),
        .sum(sums[p*ACCW+:ACCW]),
        .carry(carries[p]),
        .acc
    );
    mase_requantise_stage #(
        .IW(ACCW),
        .OW(OW),
        .SHIFT(SHIFT),
        .DIVISOR(DIVISOR),
        .ROUND(ROUND),
        .HALVED(HALVED),
        .LOW(LOW),
        .HIGH(HIGH)
    ) round (
        .clk,
        .enable,
        .in(acc),
        .out(results[p*OW+:OW])
    );
  end

  mase_skid #(
      .W(PE * OW)
  ) buffer (
      .clk,
      .rst,
      .in_valid(rounded_last),
      .in_ready(enable),
      .in_data(results),
      .out_valid,
      .out_ready,
      .out_data
  );

endmodule
