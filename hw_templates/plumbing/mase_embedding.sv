// SPDX-License-Identifier: Apache-2.0
// Rows of a table: for each number that comes the BEATS beats of its row, of ROWS rows in the image,
// one after another. A number beyond the table names its last row. Latency 4: the row's address, image, skid.
module mase_embedding #(
    parameter int IW = 4,
    parameter int W = 8,
    parameter int ROWS = 10,
    parameter int BEATS = 2,
`ifdef MASE_RELOAD
    parameter int TABLE_BASE = 0,
`endif
    parameter TABLE_FILE = ""
) (
    input  logic          clk,
    input  logic          rst,
`ifdef MASE_RELOAD
    input  logic [  56:0] reload,
`endif
    input  logic          in_valid,
    output logic          in_ready,
    input  logic [IW-1:0] in_data,
    output logic          out_valid,
    input  logic          out_ready,
    output logic [ W-1:0] out_data
);
  localparam int DEPTH = ROWS * BEATS;
  localparam int RB = (ROWS > 1) ? $clog2(ROWS) : 1;
  localparam int AW = (DEPTH > 1) ? $clog2(DEPTH) : 1;
  localparam int CW = (BEATS > 1) ? $clog2(BEATS) : 1;

  // Sums of shifts instead of a product, which would become a DSP block.
  logic [RB-1:0] row;
  logic [AW-1:0] first;
  if (ROWS < 2 ** IW) begin : g_clamp
    assign row = (in_data > IW'(ROWS - 1)) ? RB'(ROWS - 1) : in_data[RB-1:0];
  end else begin : g_all
    assign row = in_data;
  end
  always_comb begin
    first = '0;
    for (int i = 0; i < 31; i++) if (((BEATS >> i) & 1) != 0) first = first + (AW'(row) << i);
  end

  logic full, enable, valid;
  logic [CW-1:0] index;  // of the beat in the row that leaves
  logic [AW-1:0] address;
  logic [W-1:0] word;
  wire last = index == CW'(BEATS - 1);
  wire leaves = full && enable;
  assign in_ready = !full || (enable && last);
  always_ff @(posedge clk) begin
    if (rst) begin
      full  <= 1'b0;
      index <= '0;
      valid <= 1'b0;
    end else begin
      if (in_ready) full <= in_valid;
      if (leaves) index <= last ? '0 : index + 1'b1;
      if (enable) valid <= full;
    end
  end
  always_ff @(posedge clk)
    if (in_ready) address <= first;
    else if (leaves) address <= address + 1'b1;

  mase_rom #(
`ifdef MASE_RELOAD
      .BASE(TABLE_BASE),
`endif
      .W(W),
      .DEPTH(DEPTH),
      .FILE(TABLE_FILE),
      .BLOCK((DEPTH * W >= 8192) ? 1 : 0)
  ) image (
      .clk(clk),
`ifdef MASE_RELOAD
      .reload(reload),
`endif
      .enable(enable),
      .address(address),
      .data(word)
  );

  mase_skid #(
      .W(W)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(valid),
      .in_ready(enable),
      .in_data(word),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
