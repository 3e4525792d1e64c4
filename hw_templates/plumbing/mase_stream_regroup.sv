// SPDX-License-Identifier: Apache-2.0
// mase_stream_resize where neither number of lanes divides the other: registers for about the wide and the narrow side together,
// and a choice among as many places as the narrow side has lanes. No bubble in steady state. A common divisor of both numbers
// belongs to W.
module mase_stream_regroup #(
    parameter int W = 8,
    parameter int IN_LANES = 3,
    parameter int OUT_LANES = 2
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   in_valid,
    output logic                   in_ready,
    input  logic [ IN_LANES*W-1:0] in_data,
    output logic                   out_valid,
    input  logic                   out_ready,
    output logic [OUT_LANES*W-1:0] out_data
);
  localparam int CHOICES = (IN_LANES > OUT_LANES) ? OUT_LANES + 1 : IN_LANES;
  localparam int SB = $clog2(CHOICES);
  localparam int WIDTH = ((IN_LANES > OUT_LANES) ? IN_LANES + OUT_LANES - 1 : OUT_LANES) * W;

  logic [SB-1:0] select;
  logic [CHOICES*WIDTH-1:0] choices;
  // Bit by bit of the selection, lowest first: half as many choices are left by each.
  for (genvar k = 0; k <= SB; k++) begin : g_choice
    localparam int LEFT = (CHOICES + (1 << k) - 1) >> k;
    logic [LEFT*WIDTH-1:0] left;
    if (k == 0) begin : g_all
      assign left = choices;
    end else begin : g_some
      for (genvar i = 0; i < LEFT; i++) begin : g_one
        if (((2 * i + 1) << (k - 1)) < CHOICES) begin : g_two
          assign left[i*WIDTH+:WIDTH] = select[k-1] ? g_choice[k-1].left[(2*i+1)*WIDTH+:WIDTH]
                                                    : g_choice[k-1].left[2*i*WIDTH+:WIDTH];
        end else begin : g_last
          assign left[i*WIDTH+:WIDTH] = g_choice[k-1].left[2*i*WIDTH+:WIDTH];
        end
      end
    end
  end
  wire [WIDTH-1:0] chosen = g_choice[SB].left;

  if (IN_LANES > OUT_LANES) begin : g_down
    // Lanes that have not left yet, the next one lowest. Where less than a narrow beat remains a wide one enters above it, even
    // in the cycle in which the last narrow beat leaves; else what is there moves down.
    localparam int CB = $clog2(IN_LANES + OUT_LANES);
    logic [WIDTH-1:0] kept;
    logic [CB-1:0] count, rest, next;
    logic full, enable;  // full: a narrow beat is there
    wire leaves = full && enable;
    wire [WIDTH-1:0] down = kept >> (OUT_LANES * W);
    wire [(OUT_LANES-1)*W-1:0] remains = full ? down[(OUT_LANES-1)*W-1:0] : kept[(OUT_LANES-1)*W-1:0];
    assign rest = leaves ? count - CB'(OUT_LANES) : count;
    assign next = (in_valid && in_ready) ? rest + CB'(IN_LANES) : rest;
    assign in_ready = !full || (enable && select != SB'(OUT_LANES));
    for (genvar r = 0; r < OUT_LANES; r++) begin : g_place
      if (r == 0) begin : g_first
        assign choices[WIDTH-1:0] = WIDTH'(in_data);
      end else begin : g_above
        assign choices[r*WIDTH+:WIDTH] = WIDTH'({in_data, remains[r*W-1:0]});
      end
    end
    assign choices[OUT_LANES*WIDTH+:WIDTH] = down;

    always_ff @(posedge clk)
      if (rst) begin
        count <= '0;
        full <= 1'b0;
        select <= '0;
      end else begin
        count <= next;
        full <= next >= CB'(OUT_LANES);
        // What is left when the next narrow beat has gone, if that is less than another.
        select <= (next < CB'(OUT_LANES)) ? SB'(next) : (next < CB'(2 * OUT_LANES)) ? SB'(next - CB'(OUT_LANES)) : SB'(OUT_LANES);
      end
    always_ff @(posedge clk) if (!full || enable) kept <= chosen;

    mase_skid #(
        .W(OUT_LANES * W)
    ) buffer (
        .clk(clk),
        .rst(rst),
        .in_valid(full),
        .in_ready(enable),
        .in_data(kept[OUT_LANES*W-1:0]),
        .out_valid(out_valid),
        .out_ready(out_ready),
        .out_data(out_data)
    );
  end else begin : g_up
    // Lanes shift in from above; `room` is how many of the kept ones are not of the next wide beat.
    localparam int RB = $clog2(OUT_LANES);
    logic [(OUT_LANES-1)*W-1:0] kept;
    logic [RB-1:0] room;
    wire [(IN_LANES+OUT_LANES-1)*W-1:0] all = {in_data, kept};
    wire completes = room < RB'(IN_LANES);
    wire take = in_valid && in_ready;
    logic enable;
    assign in_ready = !completes || enable;
    assign select = SB'(room);
    for (genvar r = 0; r < IN_LANES; r++) begin : g_place
      assign choices[r*WIDTH+:WIDTH] = all[r*W+:WIDTH];
    end

    always_ff @(posedge clk)
      if (rst) room <= RB'(OUT_LANES - 1);
      else if (take) room <= completes ? room + RB'(OUT_LANES - IN_LANES) : room - RB'(IN_LANES);
    always_ff @(posedge clk) if (take) kept <= all[IN_LANES*W+:(OUT_LANES-1)*W];

    if (OUT_LANES < 2 * IN_LANES) begin : g_skid
      // Two wide beats can follow each other.
      mase_skid #(
          .W(OUT_LANES * W)
      ) buffer (
          .clk(clk),
          .rst(rst),
          .in_valid(in_valid && completes),
          .in_ready(enable),
          .in_data(chosen),
          .out_valid(out_valid),
          .out_ready(out_ready),
          .out_data(out_data)
      );
    end else begin : g_register
      assign enable = !out_valid;
      always_ff @(posedge clk)
        if (rst) out_valid <= 1'b0;
        else out_valid <= (take && completes) || (out_valid && !out_ready);
      always_ff @(posedge clk) if (take && completes) out_data <= chosen;
    end
  end
endmodule
