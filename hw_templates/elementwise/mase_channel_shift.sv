// SPDX-License-Identifier: Apache-2.0
// x * 2^left with a distance per channel, then requantised: accumulators of channels whose weights have binary
// points of their own, brought to one. A frame's row is BLOCKS beats of LANES channels. With several blocks, block b
// uses word b of the image and the latency is 4: operands with their distances, shifted, rounding, skid. With one
// the distances are constants, LEFT, which cost nothing, and the latency is 2.
module mase_channel_shift #(
    parameter int BLOCKS = 1,
    parameter int LANES = 1,
    parameter int IW = 16,
    parameter int ISIGNED = 1,
    parameter int LW = 2,  // bits of a distance
    parameter int ACCW = 20,
    parameter int OW = 8,
    parameter int SHIFT = 8,
    parameter int DIVISOR = 1,
    parameter int ROUND = 1,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127,
    parameter logic [LANES*LW-1:0] LEFT = '0,
    parameter LEFT_FILE = ""
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
  localparam int XW = (ISIGNED != 0) ? IW : IW + 1;
  logic enable, valid;
  logic [LANES*ACCW-1:0] acc;
  assign in_ready = enable;

  if (BLOCKS > 1) begin : g_blocks
    localparam int CW = $clog2(BLOCKS);
    localparam logic [CW-1:0] LAST = CW'(BLOCKS - 1);
    logic [CW-1:0] block;
    logic [1:0] moving;
    always_ff @(posedge clk) begin
      if (rst) begin
        {valid, moving} <= '0;
        block <= '0;
      end else if (enable) begin
        {valid, moving} <= {moving, in_valid};
        if (in_valid) block <= (block == LAST) ? '0 : block + 1'b1;
      end
    end

    logic [LANES*IW-1:0] operand;
    logic [LANES*LW-1:0] left;
    always_ff @(posedge clk) if (enable) operand <= in_data;
    mase_rom #(
        .W(LANES * LW),
        .DEPTH(BLOCKS),
        .FILE(LEFT_FILE)
    ) left_rom (
        .clk,
        .enable,
        .address(block),
        .data(left)
    );
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      logic [IW-1:0] code;
      logic signed [XW-1:0] x;
      assign code = operand[i*IW+:IW];
      assign x = XW'({1'b0, code});
      always_ff @(posedge clk) if (enable) acc[i*ACCW+:ACCW] <= ACCW'(x) <<< left[i*LW+:LW];
    end
  end else begin : g_constant
    always_ff @(posedge clk) begin
      if (rst) valid <= 1'b0;
      else if (enable) valid <= in_valid;
    end
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      logic [IW-1:0] code;
      logic signed [XW-1:0] x;
      assign code = in_data[i*IW+:IW];
      assign x = XW'({1'b0, code});
      assign acc[i*ACCW+:ACCW] = ACCW'(x) <<< LEFT[i*LW+:LW];
    end
  end

  logic [LANES*OW-1:0] result;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
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
      .in_valid(valid),
      .in_ready(enable),
      .in_data(result),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
