// SPDX-License-Identifier: Apache-2.0
// Sums along a dimension of N positions, each of BEATS beats: every position leaves as the sum of itself and of all
// before it, lane by lane, requantised. The sums so far of BEATS > 1 beats lie in LUT memory. Latency 3.
module mase_cumulative_sum #(
    parameter int N = 4,
    parameter int BEATS = 1,
    parameter int LANES = 1,
    parameter int IW = 8,
    parameter int ISIGNED = 1,
    parameter int ACCW = 10,
    parameter int OW = 8,
    parameter int SHIFT = 0,
    parameter int DIVISOR = 1,
    parameter int ROUND = 1,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127
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
  wire take = in_valid && in_ready;
  logic ends;  // the beat is the last one of its position
  logic first;  // the position is the first one of the dimension
  logic [1:0] valid;  // of `sum` and of what is rounded
  logic [LANES*ACCW-1:0] so_far, next_sum, sum;
  logic [LANES*OW-1:0] requantised;

  localparam int NB = (N > 1) ? $clog2(N) : 1;
  logic [NB-1:0] position;
  wire last = position == NB'(N - 1);
  always_ff @(posedge clk)
    if (rst) begin
      position <= '0;
      first <= 1'b1;
    end else if (take && ends) begin
      position <= last ? '0 : position + 1'b1;
      first <= last;
    end

  if (BEATS == 1) begin : g_register
    assign ends   = 1'b1;
    assign so_far = sum;
  end else begin : g_memory
    // The next beat's sum is read while this one's is written.
    localparam int BB = $clog2(BEATS);
    (* ram_style = "distributed" *) logic [LANES*ACCW-1:0] mem[0:BEATS-1];
    logic [BB-1:0] beat, next_beat;
    assign ends = next_beat == '0;
    always_ff @(posedge clk)
      if (rst) begin
        beat <= '0;
        next_beat <= BB'(1);
      end else if (take) begin
        beat <= next_beat;
        next_beat <= (next_beat == BB'(BEATS - 1)) ? '0 : next_beat + 1'b1;
      end
    always_ff @(posedge clk)
      if (take) begin
        mem[beat] <= next_sum;
        so_far <= mem[next_beat];
      end
  end

  for (genvar l = 0; l < LANES; l++) begin : g_lane
    wire [ACCW-1:0] x;
    if (ISIGNED != 0) begin : g_signed
      assign x = ACCW'($signed(in_data[l*IW+:IW]));
    end else begin : g_unsigned
      assign x = ACCW'(in_data[l*IW+:IW]);
    end
    assign next_sum[l*ACCW+:ACCW] = x + (so_far[l*ACCW+:ACCW] & {ACCW{!first}});
    mase_requantise_stage #(
        .IW(ACCW),
        .OW(OW),
        .SHIFT(SHIFT),
        .DIVISOR(DIVISOR),
        .ROUND(ROUND),
        .LOW(LOW),
        .HIGH(HIGH)
    ) result (
        .clk,
        .enable(in_ready),
        .in(sum[l*ACCW+:ACCW]),
        .out(requantised[l*OW+:OW])
    );
  end

  always_ff @(posedge clk) if (take) sum <= next_sum;
  always_ff @(posedge clk)
    if (rst) valid <= '0;
    else if (in_ready) valid <= {valid[0], take};

  mase_skid #(
      .W(LANES * OW)
  ) out_skid (
      .clk,
      .rst,
      .in_valid(valid[1]),
      .in_ready,
      .in_data(requantised),
      .out_valid,
      .out_ready,
      .out_data
  );
endmodule
