// SPDX-License-Identifier: Apache-2.0
// A function of one element in straight pieces: base + slope * l, requantised, where l are the element's low LB bits
// and the bits above them choose the word of the image that has the piece's slope in its low SW bits, its base above.
// One copy of the image per lane. Latency 6: words as memories give them, late in the cycle, operands, product, sum,
// rounding, skid.
//
// Nothing overflows: ACCW bits hold base + slope * l of every word with every l. A product need not fit by itself, as
// product and sum are taken modulo 2^ACCW: there they agree with the exact ones, of which the sum does fit. A product
// that does is not wider than it must be, so that the sum is found to be one that DSP blocks make.
module mase_piecewise #(
    parameter int LANES = 1,
    parameter int IW = 16,
    parameter int LB = 8,
    parameter int SW = 12,
    parameter int SSIGNED = 1,
    parameter int BW = 20,
    parameter int ACCW = 20,
    parameter int OW = 8,
    parameter int SHIFT = 11,
    parameter int DIVISOR = 1,
    parameter int ROUND = 0,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127,
    parameter int MULTIPLIER = 0,
    parameter FILE = ""
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                in_valid,
    output logic                in_ready,
    input  logic [LANES*IW-1:0] in_data,
    output logic                out_valid,
    input  logic                out_ready,
    output logic [LANES*OW-1:0] out_data
);
  localparam int STAGES = 5;
  localparam int SEGMENTS = 1 << (IW - LB);
  localparam int W = SW + BW;
  localparam int FULL = LB + 1 + SW + ((SSIGNED != 0) ? 0 : 1);
  localparam int PW = (FULL < ACCW) ? FULL : ACCW;
  // As mase_lookup: half an 18 kbit block and more go to block memory.
  localparam int BLOCK = (SEGMENTS * W >= 8192) ? 1 : 0;

  logic enable;
  logic [STAGES-1:0] valid;
  assign in_ready = enable;
  always_ff @(posedge clk) begin
    if (rst) valid <= '0;
    else if (enable) valid <= {valid[STAGES-2:0], in_valid};
  end

  logic [LANES*OW-1:0] result;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
    logic [W-1:0] word;
    logic [LB-1:0] low;
    logic signed [BW-1:0] base, base_of_product;
    logic signed [PW-1:0] product;
    logic signed [ACCW-1:0] acc;
    mase_rom #(
        .W(W),
        .DEPTH(SEGMENTS),
        .FILE(FILE),
        .BLOCK(BLOCK)
    ) piece_rom (
        .clk,
        .enable,
        .address(in_data[i*IW+LB+:IW-LB]),
        .data(word)
    );
    mase_multiply_stage #(
        .AW(LB),
        .ASIGNED(0),
        .BW(SW),
        .BSIGNED(SSIGNED),
        .W(PW),
        .MULTIPLIER(MULTIPLIER)
    ) multiplier (
        .clk,
        .enable,
        .a(low),
        .b(word[SW-1:0]),
        .product
    );
    always_ff @(posedge clk)
      if (enable) begin
        low <= in_data[i*IW+:LB];
        base <= word[W-1:SW];
        base_of_product <= base;
        acc <= ACCW'(product) + ACCW'(base_of_product);
      end
    mase_requantise_stage #(
        .IW(ACCW),
        .OW(OW),
        .SHIFT(SHIFT),
        .DIVISOR(DIVISOR),
        .ROUND(ROUND),
        .LOW(LOW),
        .HIGH(HIGH)
    ) convert (
        .clk,
        .enable,
        .in(acc),
        .out(result[i*OW+:OW])
    );
  end

  mase_skid #(
      .W(LANES * OW)
  ) buffer (
      .clk,
      .rst,
      .in_valid(valid[STAGES-1]),
      .in_ready(enable),
      .in_data(result),
      .out_valid,
      .out_ready,
      .out_data
  );
endmodule
