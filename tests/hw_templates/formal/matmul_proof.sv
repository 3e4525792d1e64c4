// SPDX-License-Identifier: Apache-2.0
// The data of products of streams (matmul_flow_proof has the control): every output of a row is the sum of its products
// with the matrix that is due to the row. One row, any, is looked at, and one output of one set, any. A lane of inputs
// marks the row: its weights are one, it is MARK in that row and zero in all others.
module matmul_proof #(
    parameter int SF = 1,
    parameter int NF = 1,
    parameter int SETS = 1,
    parameter int REPEAT = 1,
    parameter int ROUNDS = 1
) (
    input logic clk,
    input logic a_valid,
    input logic a_data,
    input logic b_valid,
    input logic b_data,
    input logic out_ready,
    input logic wants_look,
    input logic [7:0] wants_watched
);
  localparam int BEATS = SETS * NF * SF;  // of a frame of matrices
  localparam int ROWS = SETS * REPEAT * ROUNDS;
  localparam int MARK = 2 * SF;  // more than a sum without a mark
  localparam int AW = $clog2(MARK + 1);
  localparam int OW = $clog2(SF * MARK + SF + 1);
  logic rst, a_ready, b_ready, out_valid, looks;
  logic [OW-1:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_matmul #(
      .SF(SF),
      .NF(NF),
      .SETS(SETS),
      .REPEAT(REPEAT),
      .ROUNDS(ROUNDS),
      .SIMD(2),
      .PE(1),
      .AW(AW),
      .ASIGNED(0),
      .WW(1),
      .WSIGNED(0),
      .ACCW(OW + 1),
      .OW(OW),
      .SHIFT(0),
      .LOW(64'sd0),
      .HIGH(64'((1 << OW) - 1))
  ) dut (
      .clk(clk),
      .rst(rst),
      .a_valid(a_valid),
      .a_ready(a_ready),
      .a_data({looks ? AW'(MARK) : AW'(0), AW'(a_data)}),
      .b_valid(b_valid),
      .b_ready(b_ready),
      .b_data({1'b1, b_data}),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );

  // The weights that are looked at, of the frames that are there and of that which comes in.
  logic [7:0] set, out, beat, first_beat;
  logic [1:0] frames;
  logic [SF-1:0] now, next, coming, weights;
  always_ff @(posedge clk)
    if (rst) begin
      set <= wants_watched / 8'(NF) % 8'(SETS);
      out <= wants_watched % 8'(NF);
    end
  assign first_beat = (set * 8'(NF) + out) * 8'(SF);
  wire b_taken = b_valid && b_ready;
  wire fills = b_taken && beat == 8'(BEATS - 1);
  always_comb begin
    weights = coming;
    for (int i = 0; i < SF; i++) if (beat == first_beat + 8'(i)) weights[i] = b_data;
  end

  // The row that is looked at, what its output is, and how many of its outputs have left.
  logic [7:0] row, column, given;
  logic [OW-1:0] result;
  logic looked, in_row, due;
  wire a_taken = a_valid && a_ready;
  wire complete = a_taken && column == 8'(SF - 1);
  wire done = complete && row == 8'(ROWS - 1);
  wire [1:0] left = frames - 2'(done);
  wire right_set = row / 8'(REPEAT) % 8'(SETS) == set;
  wire marked = out_valid && out_data >= OW'(MARK);
  assign looks = column == '0 ? wants_look && right_set && !looked : in_row;
  always_ff @(posedge clk) begin
    if (rst) begin
      frames <= 2'd0;
      beat <= '0;
      row <= '0;
      column <= '0;
      given <= '0;
      looked <= 1'b0;
      due <= 1'b0;
    end else begin
      frames <= left + 2'(fills);
      if (b_taken) beat <= fills ? '0 : beat + 8'd1;
      if (b_taken) coming <= weights;
      if (done) now <= next;
      if (fills && left == 2'd0) now <= weights;
      if (fills && left == 2'd1) next <= weights;
      if (a_taken) column <= complete ? '0 : column + 8'd1;
      if (complete) row <= done ? '0 : row + 8'd1;
      if (a_taken) in_row <= looks;
      if (a_taken && looks) begin
        looked <= 1'b1;
        result <= (column == '0 ? OW'(SF * MARK) : result) + OW'(a_data && now[column]);
      end
      due <= (complete && looks) || (due && !(marked && out_ready && given == 8'(NF - 1)));
      if (marked && out_ready) given <= given + 8'd1;
    end
  end
  always_comb begin
    if (!rst) begin
      if (marked) assert (due);
      if (marked && given == out) assert (out_data == result);
      if (out_valid && given != '0 && given != 8'(NF)) assert (marked);
    end
  end
endmodule
