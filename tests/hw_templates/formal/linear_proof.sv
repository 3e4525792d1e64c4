// SPDX-License-Identifier: Apache-2.0
// The control of a folded linear: a row of SF input beats is owed NF output beats. None comes before
// its row is complete, all of them come, none twice, and a beat that is not taken holds.
module linear_proof #(
    parameter int SF = 2,
    parameter int NF = 2,
    parameter int SIMD = 2,
    parameter int PE = 2,
    parameter int OWED = 4,
    parameter int LATENCY = 8
) (
    input logic clk,
    input logic in_valid,
    input logic [SIMD-1:0] in_data,
    input logic out_ready
);
  logic rst, in_ready, out_valid;
  logic [PE*2-1:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_linear #(
      .SF(SF),
      .NF(NF),
      .SIMD(SIMD),
      .PE(PE),
      .AW(1),
      .ASIGNED(0),
      .WW(2),
      .HAS_BIAS(0),
      .BW(1),
      .ACCW(5),
      .OW(2),
      .SHIFT(0),
      .LOW(-64'sd2),
      .HIGH(64'sd1),
      .WEIGHT_FILE("weights.mem")
  ) dut (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(in_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );

  logic [7:0] column, owed, wait_cycles;
  logic taken, given, complete, waiting;
  logic [PE*2-1:0] kept;
  assign taken = in_valid && in_ready;
  assign given = out_valid && out_ready;
  assign complete = taken && column == 8'(SF - 1);
  always_ff @(posedge clk) begin
    if (rst) begin
      column <= '0;
      owed <= '0;
      wait_cycles <= '0;
      waiting <= 1'b0;
    end else begin
      if (taken) column <= complete ? '0 : column + 8'd1;
      owed <= owed + (complete ? 8'(NF) : 8'd0) - (given ? 8'd1 : 8'd0);
      wait_cycles <= (owed != '0 && !out_valid) ? wait_cycles + 8'd1 : '0;
      waiting <= out_valid && !out_ready;
    end
    kept <= out_data;
  end
  always_comb begin
    if (!rst) begin
      if (out_valid) assert (owed != '0);
      assert (owed <= 8'(OWED));
      if (owed != '0 && !out_valid) assert (wait_cycles < 8'(LATENCY));
      if (owed == '0 && !out_valid) assert (in_ready);
      if (waiting) begin
        assert (out_valid);
        assert (out_data == kept);
      end
    end
  end
endmodule
