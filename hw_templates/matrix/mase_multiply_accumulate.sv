// SPDX-License-Identifier: Apache-2.0
// mase_multiply_accumulate: the datapath of linear and depthwise. ROWS rows of weights follow each
// other, COLUMNS words each, in a memory; see mase_products for what becomes of them. The operands x of a
// step are offered a cycle after `step` and hold while enable is low.
//
// OPERAND_STAGES registers in front of those of mase_products, on the way from where operands are kept to
// multipliers far from there, delay a beat by as many cycles; WEIGHT_STAGES of them follow the memory of weights, which is
// read later by the others.
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
    parameter int AFLOAT = -1,
    parameter int AZERO = 1,
    parameter int AN = 8,
    parameter int WFLOAT = -1,
    parameter int WZERO = 1,
    parameter int WN = 8,
    parameter int UNIT = 0,
    parameter int TERM_STAGES = 0,
    parameter int DECODE = 0,
    parameter int AEXP = 0,
    parameter int WEXP = 0,
    parameter int AFACTOR = 0,
    parameter int WFACTOR = 0,
    parameter int DOTW = 0,
    parameter int OPERAND_STAGES = 0,
    parameter int PRODUCT_STAGES = 0,
    parameter int WEIGHT_STAGES = 0,  // at most OPERAND_STAGES
`ifdef MASE_RELOAD
    parameter int WEIGHT_BASE = 0,
    parameter int BIAS_BASE = 0,
`endif
    parameter WEIGHT_FILE = "",
    parameter BIAS_FILE = "",
    localparam int CB = (COLUMNS > 1) ? $clog2(COLUMNS) : 1,
    localparam int XW = SHARES * (SIMD * AW + AEXP + AFACTOR)
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
  localparam int WORD = PE * (SIMD * WW + WEXP + WFACTOR);
  localparam int WB = (WORDS > 1) ? $clog2(WORDS) : 1;
  logic [WB-1:0] weight_address;
  logic [WORD-1:0] words, moved_words;
  localparam int BEFORE = OPERAND_STAGES - WEIGHT_STAGES;  // the stages in front of the memory of weights
  if (ROWS == 1) begin : g_row_address
    mase_delay #(
        .W(CB),
        .STAGES(BEFORE)
    ) columns (
        .clk,
        .enable,
        .in(column),
        .out(weight_address)
    );
  end else begin : g_address
    always_ff @(posedge clk)
      if (rst) weight_address <= '0;
      else if (enable && steps[BEFORE])
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
      .data(words)
  );
  mase_delay #(
      .W(WORD),
      .STAGES(WEIGHT_STAGES)
  ) weight_stages (
      .clk,
      .enable,
      .in(words),
      .out(moved_words)
  );
  mase_products #(
      .ROWS(ROWS),
      .SHARES(SHARES),
      .SIMD(SIMD),
      .PE(PE),
      .AW(AW),
      .ASIGNED(ASIGNED),
      .WW(WW),
      .WSIGNED(WSIGNED),
      .HAS_BIAS(HAS_BIAS),
      .BW(BW),
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
      .KNOWN(KNOWN),
      .AFLOAT(AFLOAT),
      .AZERO(AZERO),
      .AN(AN),
      .WFLOAT(WFLOAT),
      .WZERO(WZERO),
      .WN(WN),
      .UNIT(UNIT),
      .TERM_STAGES(TERM_STAGES),
      .DECODE(DECODE),
      .AEXP(AEXP),
      .WEXP(WEXP),
      .AFACTOR(AFACTOR),
      .WFACTOR(WFACTOR),
      .DOTW(DOTW),
      .PRODUCT_STAGES(PRODUCT_STAGES),
`ifdef MASE_RELOAD
      .BIAS_BASE(BIAS_BASE),
`endif
      .BIAS_FILE(BIAS_FILE)
  ) products (
      .clk,
      .rst,
`ifdef MASE_RELOAD
      .reload,
`endif
      .enable,
      .step(moved_step),
      .row_start(firsts[OPERAND_STAGES]),
      .row_end(ends[OPERAND_STAGES]),
      .x(moved[OPERAND_STAGES]),
      .words(moved_words),
      .out_valid,
      .out_ready,
      .out_data
  );

endmodule
