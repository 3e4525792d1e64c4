// SPDX-License-Identifier: Apache-2.0
// Every element that comes in COUNT times, in beats of LANES. No bubble: the next element enters with the cycle in
// which the last beat of one leaves.
module mase_repeat #(
    parameter int W = 8,
    parameter int COUNT = 4,  // a multiple of LANES
    parameter int LANES = 1
) (
    input  logic               clk,
    input  logic               rst,
    input  logic               in_valid,
    output logic               in_ready,
    input  logic [      W-1:0] in_data,
    output logic               out_valid,
    input  logic               out_ready,
    output logic [LANES*W-1:0] out_data
);
  localparam int BEATS = COUNT / LANES;
  localparam int CW = (BEATS > 1) ? $clog2(BEATS) : 1;
  logic [ W-1:0] kept;
  logic [CW-1:0] index;
  logic full, enable;
  wire last = index == CW'(BEATS - 1);
  assign in_ready = !full || (enable && last);

  always_ff @(posedge clk) begin
    if (rst) begin
      full  <= 1'b0;
      index <= '0;
    end else begin
      if (in_ready) full <= in_valid;
      if (full && enable) index <= last ? '0 : index + 1'b1;
    end
  end
  always_ff @(posedge clk) if (in_ready) kept <= in_data;

  // One element is enough to keep: all lanes have the same.
  logic [W-1:0] given;
  mase_skid #(
      .W(W)
  ) buffer (
      .clk,
      .rst,
      .in_valid(full),
      .in_ready(enable),
      .in_data(kept),
      .out_valid,
      .out_ready,
      .out_data(given)
  );
  assign out_data = {LANES{given}};
endmodule
