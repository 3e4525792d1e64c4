// SPDX-License-Identifier: Apache-2.0
// mase_linear: y[o] = sum_i w[o][i] * x[i] + bias[o] on rows of SF beats of SIMD inputs, giving NF
// beats of PE outputs. The first of NF passes uses the beats as they come and keeps them; later
// passes read them back, and no beat is taken then. SETS weight sets follow each other row by row.
//
// Input always offered and output always taken, with TREE of mase_dot: first output beat SF + 6 + TREE
// cycles after the first input beat, last one SF*NF + 6 + TREE, a row every SF*NF cycles; one less with Booth rows.
// OPERAND_STAGES registers on the operands' way and PRODUCT_STAGES behind the tool's multipliers add a cycle of latency each; WEIGHT_STAGES
// of the former are the weights' too. With AEXP > 0 a beat's inputs share an exponent of so many bits, above them, and with AFACTOR > 0 a factor above that.
module mase_linear #(
    parameter int SF = 8,
    parameter int NF = 8,
    parameter int SETS = 1,
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
    parameter int PACK = 1,
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
    parameter int WEIGHT_STAGES = 0,
`ifdef MASE_RELOAD
    parameter int WEIGHT_BASE = 0,
    parameter int BIAS_BASE = 0,
`endif
    parameter WEIGHT_FILE = "",
    parameter BIAS_FILE = "",
    localparam int XW = SIMD * AW + AEXP + AFACTOR
) (
    input  logic               clk,
    input  logic               rst,
`ifdef MASE_RELOAD
    input  logic [56:0]        reload,
`endif
    input  logic               in_valid,
    output logic               in_ready,
    input  logic [XW-1:0]      in_data,
    output logic               out_valid,
    input  logic               out_ready,
    output logic [PE*OW-1:0]   out_data
);

  localparam int CB = (SF > 1) ? $clog2(SF) : 1;
  logic [CB-1:0] column;
  logic [XW-1:0] x;
  logic enable, step, row_end;

  assign row_end = column == CB'(SF - 1);
  always_ff @(posedge clk)
    if (rst) column <= '0;
    else if (step) column <= row_end ? '0 : column + 1'b1;

  if (NF == 1) begin : g_direct
    assign in_ready = enable;
    assign step = enable && in_valid;
    always_ff @(posedge clk) if (enable) x <= in_data;
  end else begin : g_replay
    // A step: a beat of the first pass comes in, or a beat of a later pass is read back.
    localparam int NB = $clog2(NF);
    logic [NB-1:0] pass;
    assign in_ready = enable && pass == '0;
    assign step = enable && (in_valid || pass != '0);
    always_ff @(posedge clk)
      if (rst) pass <= '0;
      else if (step && row_end) pass <= (pass == NB'(NF - 1)) ? '0 : pass + 1'b1;
    mase_replay #(
        .W(XW),
        .DEPTH(SF)
    ) row (
        .clk,
        .enable,
        .write(in_valid && in_ready),
        .address(column),
        .in_data,
        .data(x)
    );
  end

  mase_multiply_accumulate #(
      .COLUMNS(SF),
      .ROWS(SETS * NF),
      .SHARES(1),
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
      .OPERAND_STAGES(OPERAND_STAGES),
      .PRODUCT_STAGES(PRODUCT_STAGES),
      .WEIGHT_STAGES(WEIGHT_STAGES),
`ifdef MASE_RELOAD
      .WEIGHT_BASE(WEIGHT_BASE),
      .BIAS_BASE(BIAS_BASE),
`endif
      .WEIGHT_FILE(WEIGHT_FILE),
      .BIAS_FILE(BIAS_FILE)
  ) datapath (
      .clk,
      .rst,
`ifdef MASE_RELOAD
      .reload,
`endif
      .enable,
      .step,
      .column,
      .row_end,
      .x,
      .out_valid,
      .out_ready,
      .out_data
  );

endmodule
