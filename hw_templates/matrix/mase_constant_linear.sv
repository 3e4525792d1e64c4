// SPDX-License-Identifier: Apache-2.0
// mase_constant_linear: y[o] = sum_i w[o][i] * x[i] + bias[o] with the weights as constants, a row per
// cycle.
//
// Distributed arithmetic: inputs stand in groups of four, whose subset sums are made once for all
// outputs. Bit k of the weights of an output picks a subset in every group; these are added to a
// column, and the columns, each twice the one before, to the result. Subsets that nobody picks and
// weights without a bit set cost nothing. Equal partial sums of different outputs are made once by
// the tools, because all are built in the same order.
//
// Registers: inputs; subset sums; every second level of either tree; rounding. Each passes on with the
// ready of the output's skid, so a row takes 4 + ceil(log2(GROUPS) / 2) + ceil(log2(WW) / 2) cycles with
// GROUPS = ceil(INPUTS / 4).
module mase_constant_linear #(
    parameter int INPUTS = 4,
    parameter int OUTPUTS = 1,
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int WW = 4,
    parameter int WSIGNED = 1,
    parameter int HAS_BIAS = 1,
    parameter int BW = 16,
    parameter int ACCW = 20,
    parameter int OW = 8,
    parameter int SHIFT = 4,
    parameter int DIVISOR = 1,
    parameter int ROUND = 1,
    parameter int HALVED = 0,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127,
    parameter int AFLOAT = -1,  // inputs that are short codes: see mase_decode
    parameter int AZERO = 1,
    parameter int AN = 8,
    parameter logic [INPUTS*OUTPUTS*WW-1:0] WEIGHTS = '0,
    parameter logic [OUTPUTS*BW-1:0] BIASES = '0
) (
    input  logic                  clk,
    input  logic                  rst,
    input  logic                  in_valid,
    output logic                  in_ready,
    input  logic [ INPUTS*AW-1:0] in_data,
    output logic                  out_valid,
    input  logic                  out_ready,
    output logic [OUTPUTS*OW-1:0] out_data
);

  localparam int NUMBER = (AFLOAT < 0) ? AW : AN;
  localparam int AX = NUMBER + ((ASIGNED != 0) ? 0 : 1);
  localparam int GROUPS = (INPUTS + 3) / 4;
  localparam int GLEVELS = $clog2(GROUPS);
  localparam int KLEVELS = $clog2(WW);
  localparam int STAGES = 3 + (GLEVELS + 1) / 2 + (KLEVELS + 1) / 2;

  logic enable;
  assign in_ready = enable;
  logic [STAGES:1] valid;
  always_ff @(posedge clk)
    if (rst) valid <= '0;
    else if (enable) valid <= {valid[STAGES-1:1], in_valid};

  // Subset sums. Value p of a group is the sum of those of its inputs whose bit is set in p.
  for (genvar g = 0; g < GROUPS; g++) begin : g_group
    logic [4*AX-1:0] x;
    for (genvar i = 0; i < 4; i++) begin : g_input
      if (4 * g + i >= INPUTS) begin : g_none
        assign x[i*AX+:AX] = '0;
      end else begin : g_some
        logic [NUMBER-1:0] number, kept;
        mase_decode #(
            .W(AW),
            .SIGNED(ASIGNED),
            .FLOAT(AFLOAT),
            .ZERO(AZERO),
            .OW(NUMBER)
        ) decode (
            .code(in_data[(4*g+i)*AW+:AW]),
            .number
        );
        always_ff @(posedge clk) if (enable) kept <= number;
        if (ASIGNED != 0) begin : g_signed
          assign x[i*AX+:AX] = kept;
        end else begin : g_unsigned
          assign x[i*AX+:AX] = {1'b0, kept};
        end
      end
    end
    for (genvar p = 0; p < 16; p++) begin : g_subset
      localparam int SUM = AX + 2;
      logic [SUM-1:0] next_or_unused, sum_or_unused;
      if (p % 4 != 0 && p / 4 != 0) begin : g_both
        mase_constant_add #(SUM, SUM, SUM, 0) both (
            .a(g_group[g].g_subset[p%4].next_or_unused),
            .b(g_group[g].g_subset[p-p%4].next_or_unused),
            .sum(next_or_unused)
        );
      end else if (p == 3 || p == 12) begin : g_pair
        mase_constant_add #(AX, AX, SUM, 0) pair (
            .a(x[(p/12)*2*AX+:AX]),
            .b(x[((p/12)*2+1)*AX+:AX]),
            .sum(next_or_unused)
        );
      end else if (p != 0) begin : g_one
        assign next_or_unused = SUM'($signed(x[$clog2(p)*AX+:AX]));
      end else begin : g_empty
        assign next_or_unused = '0;
      end
      always_ff @(posedge clk) if (enable) sum_or_unused <= next_or_unused;
    end
  end

  logic [OUTPUTS*OW-1:0] results;
  for (genvar o = 0; o < OUTPUTS; o++) begin : g_output
    // Columns: the subsets of all groups for one bit of the weights.
    for (genvar k = 0; k < WW; k++) begin : g_column
      for (genvar l = 0; l <= GLEVELS; l++) begin : g_sum
        localparam int NW = AX + 2 + l;
        for (genvar j = 0; j < (GROUPS + (1 << l) - 1) >> l; j++) begin : g_node
          logic [NW-1:0] next, value;
          if (l == 0) begin : g_pick
            localparam int AT = (o * INPUTS + 4 * j) * WW + k;
            localparam int LEFT = INPUTS - 4 * j;
            localparam int PICK = ((WEIGHTS[AT]) ? 1 : 0)
                + ((LEFT > 1 && WEIGHTS[(LEFT>1)?AT+WW:AT]) ? 2 : 0)
                + ((LEFT > 2 && WEIGHTS[(LEFT>2)?AT+2*WW:AT]) ? 4 : 0)
                + ((LEFT > 3 && WEIGHTS[(LEFT>3)?AT+3*WW:AT]) ? 8 : 0);
            if (PICK != 0) begin : g_some
              assign next = g_group[j].g_subset[PICK].sum_or_unused;
            end else begin : g_none
              assign next = '0;
            end
          end else if (2 * j + 1 < (GROUPS + (1 << (l - 1)) - 1) >> (l - 1)) begin : g_pair
            mase_constant_add #(NW - 1, NW - 1, NW, 0) pair (
                .a(g_sum[l-1].g_node[2*j].value),
                .b(g_sum[l-1].g_node[2*j+1].value),
                .sum(next)
            );
          end else begin : g_single
            assign next = NW'($signed(g_sum[l-1].g_node[2*j].value));
          end
          if (l > 0 && (l % 2 == 0 || l == GLEVELS)) begin : g_register
            always_ff @(posedge clk) if (enable) value <= next;
          end else begin : g_wire
            assign value = next;
          end
        end
      end
    end

    // The columns, in units of a node's lowest. The highest one is negative for signed weights.
    localparam int CW = AX + 2 + GLEVELS;
    localparam int TOTAL = CW + WW + KLEVELS;
    for (genvar l = 0; l <= KLEVELS; l++) begin : g_join
      for (genvar j = 0; j < (WW + (1 << l) - 1) >> l; j++) begin : g_part
        localparam int NW = CW + (1 << l) - 1 + l;
        logic [NW-1:0] next, sum_or_unused;
        if (l == 0) begin : g_column_sum
          assign next = g_column[j].g_sum[GLEVELS].g_node[0].value;
        end else if (2 * j + 1 < (WW + (1 << (l - 1)) - 1) >> (l - 1)) begin : g_pair
          localparam int HALF = 1 << (l - 1);
          localparam int PW = CW + HALF - 1 + l - 1;
          assign next[HALF-1:0] = g_join[l-1].g_part[2*j].sum_or_unused[HALF-1:0];
          mase_constant_add #(
              PW - HALF,
              PW,
              NW - HALF,
              (WSIGNED != 0 && ((2 * j + 1) << (l - 1)) == WW - 1) ? 1 : 0
          ) pair (
              .a(g_join[l-1].g_part[2*j].sum_or_unused[PW-1:HALF]),
              .b(g_join[l-1].g_part[2*j+1].sum_or_unused),
              .sum(next[NW-1:HALF])
          );
        end else begin : g_single
          assign next = NW'($signed(g_join[l-1].g_part[2*j].sum_or_unused));
        end
        if (l > 0 && (l % 2 == 0 || l == KLEVELS)) begin : g_register
          always_ff @(posedge clk) if (enable) sum_or_unused <= next;
        end else begin : g_wire
          assign sum_or_unused = next;
        end
      end
    end

    // Modulo 2^ACCW, which holds the result.
    localparam int RW = (TOTAL > ACCW) ? TOTAL : ACCW;
    logic [RW-1:0] total, acc_or_unused;
    assign total = RW'($signed(g_join[KLEVELS].g_part[0].sum_or_unused));
    assign acc_or_unused = ((WSIGNED != 0 && WW == 1) ? -total : total)
        + ((HAS_BIAS != 0) ? RW'($signed(BIASES[o*BW+:BW])) : '0);
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
        .in(acc_or_unused[ACCW-1:0]),
        .out(results[o*OW+:OW])
    );
  end

  mase_skid #(
      .W(OUTPUTS * OW)
  ) buffer (
      .clk,
      .rst,
      .in_valid(valid[STAGES]),
      .in_ready(enable),
      .in_data(results),
      .out_valid,
      .out_ready,
      .out_data
  );

endmodule
