// SPDX-License-Identifier: Apache-2.0
// Puts constants around the rows of a stream: BEFORE beats of the image, BEATS beats of the input,
// AFTER beats of the image, again and again. The image has DEPTH beats, in the order in which they
// leave, and begins anew behind the last one. Those before a row wait for its first beat: nothing
// leaves before a frame comes. Latency 3: held, image, skid.
module mase_insert #(
    parameter int W = 8,
    parameter int BEFORE = 1,
    parameter int BEATS = 4,
    parameter int AFTER = 1,
    parameter int DEPTH = 2,
`ifdef MASE_RELOAD
    parameter int IMAGE_BASE = 0,
`endif
    parameter IMAGE_FILE = ""
) (
    input  logic         clk,
    input  logic         rst,
`ifdef MASE_RELOAD
    input  logic [56:0]  reload,
`endif
    input  logic         in_valid,
    output logic         in_ready,
    input  logic [W-1:0] in_data,
    output logic         out_valid,
    input  logic         out_ready,
    output logic [W-1:0] out_data
);
  localparam int ROW = BEFORE + BEATS + AFTER;
  localparam int CW = (ROW > 1) ? $clog2(ROW) : 1;
  localparam int AW = (DEPTH > 1) ? $clog2(DEPTH) : 1;

  // Whose turn it is stands in registers, so that a beat's way is chosen by one bit.
  logic [CW-1:0] index;  // of the beat in the row that leaves
  logic [AW-1:0] address;
  logic full, constant, after, enable;
  logic [W-1:0] held;
  wire leaves = enable && (full || after);
  wire last = index == CW'(ROW - 1);
  wire begins = (BEFORE != 0) && index == CW'(BEFORE - 1);
  wire ends = (AFTER != 0) && index == CW'(BEFORE + BEATS - 1);
  assign in_ready = !full || (enable && !constant);

  always_ff @(posedge clk) begin
    if (rst) begin
      full <= 1'b0;
      index <= '0;
      address <= '0;
      constant <= BEFORE != 0;
      after <= 1'b0;
    end else begin
      if (in_ready) full <= in_valid;
      if (leaves) begin
        index <= last ? '0 : index + 1'b1;
        constant <= last ? (BEFORE != 0) : (ends || (constant && !begins));
        after <= ends || (after && !last);
        if (constant) address <= (address == AW'(DEPTH - 1)) ? '0 : address + 1'b1;
      end
    end
  end
  always_ff @(posedge clk) if (in_ready) held <= in_data;

  logic valid, from_image;
  logic [W-1:0] operand, word;
  always_ff @(posedge clk) begin
    if (rst) valid <= 1'b0;
    else if (enable) valid <= leaves;
  end
  always_ff @(posedge clk)
    if (enable) begin
      operand <= held;
      from_image <= constant;
    end

  mase_rom #(
`ifdef MASE_RELOAD
      .BASE(IMAGE_BASE),
`endif
      .W(W),
      .DEPTH(DEPTH),
      .FILE(IMAGE_FILE),
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
      .in_data(from_image ? word : operand),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
