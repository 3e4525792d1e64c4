// SPDX-License-Identifier: Apache-2.0
// The control of products of streams: a row of SF beats is owed NF beats, and a frame of matrices is for ROWS rows. No
// row is taken before its frame of matrices has come; no beat comes before its row is complete, all that are owed come,
// none twice, and one that is not taken holds. With nothing owed, rows are taken while a frame of matrices is there,
// and matrices while fewer than two are.
module matmul_flow_proof #(
    parameter int SF = 1,
    parameter int NF = 1,
    parameter int SETS = 1,
    parameter int REPEAT = 1,
    parameter int ROUNDS = 1,
    parameter int OWED = 10,  // beats at most
    parameter int LATENCY = 8
) (
    input logic clk,
    input logic a_valid,
    input logic a_data,
    input logic b_valid,
    input logic b_data,
    input logic out_ready
);
  localparam int BEATS = SETS * NF * SF;  // of a frame of matrices
  localparam int ROWS = SETS * REPEAT * ROUNDS;
  logic rst, a_ready, b_ready, out_valid;
  logic [1:0] out_data;
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
      .SIMD(1),
      .PE(1),
      .AW(1),
      .ASIGNED(0),
      .WW(1),
      .WSIGNED(0),
      .ACCW(3),
      .OW(2),
      .SHIFT(0),
      .LOW(64'sd0),
      .HIGH(64'sd3)
  ) dut (
      .clk(clk),
      .rst(rst),
      .a_valid(a_valid),
      .a_ready(a_ready),
      .a_data(a_data),
      .b_valid(b_valid),
      .b_ready(b_ready),
      .b_data(b_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );

  logic [7:0] beat, row, column, wait_cycles;
  logic [1:0] frames;
  logic [OWED+NF:0] owed, rest;  // a one for each beat, in the low bits
  logic [1:0] kept;
  logic waiting;
  wire a_taken = a_valid && a_ready;
  wire b_taken = b_valid && b_ready;
  wire given = out_valid && out_ready;
  wire fills = b_taken && beat == 8'(BEATS - 1);
  wire complete = a_taken && column == 8'(SF - 1);
  wire done = complete && row == 8'(ROWS - 1);
  assign rest = given ? owed >> 1 : owed;
  always_ff @(posedge clk) begin
    if (rst) begin
      beat <= '0;
      row <= '0;
      column <= '0;
      frames <= 2'd0;
      owed <= '0;
      wait_cycles <= '0;
      waiting <= 1'b0;
    end else begin
      if (b_taken) beat <= fills ? '0 : beat + 8'd1;
      if (a_taken) column <= complete ? '0 : column + 8'd1;
      if (complete) row <= done ? '0 : row + 8'd1;
      frames <= frames + 2'(fills) - 2'(done);
      owed <= complete ? {rest, {NF{1'b1}}} : rest;
      wait_cycles <= (owed != '0 && !out_valid) ? wait_cycles + 8'd1 : '0;
      waiting <= out_valid && !out_ready;
    end
    kept <= out_data;
  end
  always_comb begin
    if (!rst) begin
      if (out_valid) assert (owed != '0);
      assert (!owed[OWED]);
      if (owed != '0 && !out_valid) assert (wait_cycles < 8'(LATENCY));
      if (frames == 2'd0) assert (!a_ready);
      if (owed == '0) begin
        assert (a_ready == (frames != 2'd0));
        assert (b_ready == (frames < 2'd2));
      end
      if (waiting) begin
        assert (out_valid);
        assert (out_data == kept);
      end
    end
  end
endmodule
