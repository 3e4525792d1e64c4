// SPDX-License-Identifier: Apache-2.0
// x * scale + shift with one scale and shift per channel: a frame's row is BLOCKS beats of LANES
// channels, block b uses word b of the images. Latency 6: operands, the same inside the multipliers, product, sum
// (without a shift the way from a DSP block to where it is rounded), rounding, skid.
module mase_scale_shift #(
    parameter int BLOCKS = 1,
    parameter int LANES = 1,
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int SW = 8,
    parameter int SSIGNED = 1,
    parameter int HAS_SHIFT = 1,
    parameter int BW = 16,
    parameter int ACCW = 18,
    parameter int OW = 8,
    parameter int SHIFT = 8,
    parameter int DIVISOR = 1,
    parameter int ROUND = 1,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127,
    parameter int MULTIPLIER = 0,
`ifdef MASE_RELOAD
    parameter int SCALE_BASE = 0,
    parameter int SHIFT_BASE = 0,
`endif
    parameter SCALE_FILE = "",
    parameter SHIFT_FILE = ""
) (
    input  logic                clk,
    input  logic                rst,
`ifdef MASE_RELOAD
    input  logic [56:0]         reload,
`endif
    input  logic                in_valid,
    output logic                in_ready,
    input  logic [LANES*AW-1:0] in_data,
    output logic                out_valid,
    input  logic                out_ready,
    output logic [LANES*OW-1:0] out_data
);
  localparam int STAGES = 5;
  localparam int CW = (BLOCKS > 1) ? $clog2(BLOCKS) : 1;
  localparam logic [CW-1:0] LAST = CW'(BLOCKS - 1);

  logic enable;
  logic [STAGES-1:0] valid;
  logic [CW-1:0] block;
  assign in_ready = enable;
  always_ff @(posedge clk) begin
    if (rst) begin
      valid <= '0;
      block <= '0;
    end else if (enable) begin
      valid <= {valid[STAGES-2:0], in_valid};
      if (in_valid) block <= (block == LAST) ? '0 : block + 1'b1;
    end
  end

  logic [LANES*AW-1:0] operand;
  logic [LANES*SW-1:0] scale;
  always_ff @(posedge clk) if (enable) operand <= in_data;
  mase_rom #(
`ifdef MASE_RELOAD
      .BASE(SCALE_BASE),
`endif
      .W(LANES * SW),
      .DEPTH(BLOCKS),
      .FILE(SCALE_FILE)
  ) scale_rom (
      .clk(clk),
`ifdef MASE_RELOAD
      .reload(reload),
`endif
      .enable(enable),
      .address(block),
      .data(scale)
  );

  logic [LANES*ACCW-1:0] scaled, acc;

  if (HAS_SHIFT != 0) begin : g_shift
    logic [CW-1:0] block_of_operand, block_of_product;
    logic [LANES*BW-1:0] shift;
    logic [LANES*ACCW-1:0] sum;
    always_ff @(posedge clk)
      if (enable) begin
        block_of_operand <= block;
        block_of_product <= block_of_operand;
      end
    mase_rom #(
`ifdef MASE_RELOAD
        .BASE(SHIFT_BASE),
`endif
        .W(LANES * BW),
        .DEPTH(BLOCKS),
        .FILE(SHIFT_FILE)
    ) shift_rom (
        .clk(clk),
`ifdef MASE_RELOAD
        .reload(reload),
`endif
        .enable(enable),
        .address(block_of_product),
        .data(shift)
    );
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      assign sum[i*ACCW+:ACCW] = $signed(scaled[i*ACCW+:ACCW]) + ACCW'($signed(shift[i*BW+:BW]));
    end
    always_ff @(posedge clk) if (enable) acc <= sum;
  end else begin : g_no_shift
    always_ff @(posedge clk) if (enable) acc <= scaled;
  end

  logic [LANES*OW-1:0] result;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
    mase_multiply_stage #(
        .AW(AW),
        .ASIGNED(ASIGNED),
        .BW(SW),
        .BSIGNED(SSIGNED),
        .W(ACCW),
        .MULTIPLIER(MULTIPLIER)
    ) multiplier (
        .clk,
        .enable,
        .a(operand[i*AW+:AW]),
        .b(scale[i*SW+:SW]),
        .product(scaled[i*ACCW+:ACCW])
    );
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
        .in(acc[i*ACCW+:ACCW]),
        .out(result[i*OW+:OW])
    );
  end

  mase_skid #(
      .W(LANES * OW)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(valid[STAGES-1]),
      .in_ready(enable),
      .in_data(result),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
