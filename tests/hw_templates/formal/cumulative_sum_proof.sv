// SPDX-License-Identifier: Apache-2.0
// cumulative_sum gives for each beat its sum with all before it in the row of N positions, lane by lane, in order.
module cumulative_sum_proof #(
    parameter int N = 2,
    parameter int BEATS = 2,
    parameter int LANES = 1,
    parameter int IW = 1,
    parameter int ISIGNED = 1,
    parameter int ACCW = 3
) (
    input logic clk,
    input logic in_valid,
    input logic [LANES*IW-1:0] in_data,
    input logic out_ready
);
  logic rst, in_ready, out_valid;
  logic [LANES*ACCW-1:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_cumulative_sum #(
      .N(N),
      .BEATS(BEATS),
      .LANES(LANES),
      .IW(IW),
      .ISIGNED(ISIGNED),
      .ACCW(ACCW),
      .OW(ACCW),
      .SHIFT(0),
      .LOW(-(64'sd1 << (ACCW - 1))),
      .HIGH((64'sd1 << (ACCW - 1)) - 64'sd1)
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

  // The definition: the last position's sums, the oldest beat in the low bits, of which a row's first position has none.
  logic [BEATS*LANES*ACCW-1:0] kept;
  logic [LANES*ACCW-1:0] sums;
  logic [7:0] beat;
  always_comb
    for (int l = 0; l < LANES; l++) begin
      sums[l*ACCW+:ACCW] = ISIGNED != 0 ? ACCW'($signed(in_data[l*IW+:IW])) :
          ACCW'(in_data[l*IW+:IW]);
      if (beat >= 8'(BEATS)) sums[l*ACCW+:ACCW] = sums[l*ACCW+:ACCW] + kept[l*ACCW+:ACCW];
    end
  always_ff @(posedge clk)
    if (rst) beat <= '0;
    else if (in_valid && in_ready) begin
      beat <= (beat == 8'(N * BEATS - 1)) ? '0 : beat + 8'd1;
      kept <= (BEATS * LANES * ACCW)'({sums, kept} >> (LANES * ACCW));
    end

  queue_properties #(
      .W(LANES * ACCW),
      .CAPACITY(4),
      .FULL(2),
      .LATENCY(2)
  ) properties (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(sums),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
