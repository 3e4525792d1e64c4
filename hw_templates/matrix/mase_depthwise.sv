// SPDX-License-Identifier: Apache-2.0
// mase_depthwise: every N beats of a block of GROUPS groups of CHANNELS channels give one beat. A beat has
// TAPS taps in the order (tap, group, channel); each of a group's OUTPUTS is the sum of its elements times the
// output's own weights, plus bias. BLOCKS blocks follow each other. Input always offered and output always taken,
// with TREE of mase_dot for TAPS * CHANNELS lanes: first output beat N + 6 + TREE cycles after the first input beat
// (one less with Booth rows), a block every N cycles.
// OPERAND_STAGES registers on the operands' way and PRODUCT_STAGES behind the tool's multipliers add a cycle of latency each; WEIGHT_STAGES
// of the former are the weights' too.
module mase_depthwise #(
    parameter int N = 9,
    parameter int BLOCKS = 2,
    parameter int GROUPS = 4,
    parameter int TAPS = 1,
    parameter int CHANNELS = 1,
    parameter int OUTPUTS = 1,
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
    parameter int OPERAND_STAGES = 0,
    parameter int PRODUCT_STAGES = 0,
    parameter int WEIGHT_STAGES = 0,
`ifdef MASE_RELOAD
    parameter int WEIGHT_BASE = 0,
    parameter int BIAS_BASE = 0,
`endif
    parameter WEIGHT_FILE = "",
    parameter BIAS_FILE = "",
    localparam int SIMD = TAPS * CHANNELS,
    localparam int PE = GROUPS * OUTPUTS
) (
    input  logic               clk,
    input  logic               rst,
`ifdef MASE_RELOAD
    input  logic [56:0]        reload,
`endif
    input  logic               in_valid,
    output logic               in_ready,
    input  logic [GROUPS*SIMD*AW-1:0] in_data,
    output logic               out_valid,
    input  logic               out_ready,
    output logic [PE*OW-1:0] out_data
);

  localparam int CB = (N > 1) ? $clog2(N) : 1;
  logic [CB-1:0] column;
  logic [GROUPS*SIMD*AW-1:0] x;  // in the order (group, tap, channel)
  logic enable, step, row_end;
  assign in_ready = enable;
  assign step = enable && in_valid;
  assign row_end = column == CB'(N - 1);
  always_ff @(posedge clk)
    if (rst) column <= '0;
    else if (step) column <= row_end ? '0 : column + 1'b1;

  for (genvar g = 0; g < GROUPS; g++) begin : g_group
    for (genvar t = 0; t < TAPS; t++) begin : g_tap
      localparam int GROUP = CHANNELS * AW;
      always_ff @(posedge clk)
        if (enable)
          x[(g*TAPS+t)*GROUP+:GROUP] <= in_data[(t*GROUPS+g)*GROUP+:GROUP];
    end
  end

  mase_multiply_accumulate #(
      .COLUMNS(N),
      .ROWS(BLOCKS),
      .SHARES(GROUPS),
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
