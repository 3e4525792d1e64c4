// SPDX-License-Identifier: Apache-2.0
// Shifts the elements of a by the distances of b, which are not negative, one for each. RIGHT 0: a << b. RIGHT 1:
// n = b + PLACES places to the right, with a bit below that tells whether a bit that is set was lost; a negative PLACES
// shifts to the left before. Then requantised. Latency 5: a skid per input, the longer half of the distance, the shorter
// one, rounding, skid.
module mase_block_shift #(
    parameter int LANES = 1,
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int BW = 3,
    parameter int RIGHT = 0,
    parameter int PLACES = 0,
    parameter int ACCW = 16,
    parameter int OW = 8,
    parameter int SHIFT = 0,
    parameter int DIVISOR = 1,
    parameter int ROUND = 1,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                a_valid,
    output logic                a_ready,
    input  logic [LANES*AW-1:0] a_data,
    input  logic                b_valid,
    output logic                b_ready,
    input  logic [LANES*BW-1:0] b_data,
    output logic                out_valid,
    input  logic                out_ready,
    output logic [LANES*OW-1:0] out_data
);
  logic left_valid, right_valid, fire, enable;
  logic [LANES*AW-1:0] elements;
  logic [LANES*BW-1:0] distances;
  assign fire = left_valid && right_valid && enable;

  mase_skid #(
      .W(LANES * AW)
  ) a_buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(a_valid),
      .in_ready(a_ready),
      .in_data(a_data),
      .out_valid(left_valid),
      .out_ready(fire),
      .out_data(elements)
  );
  mase_skid #(
      .W(LANES * BW)
  ) b_buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(b_valid),
      .in_ready(b_ready),
      .in_data(b_data),
      .out_valid(right_valid),
      .out_ready(fire),
      .out_data(distances)
  );

  logic [2:0] valid;
  always_ff @(posedge clk) begin
    if (rst) valid <= '0;
    else if (enable) valid <= {valid[1:0], fire};
  end

  localparam int BEFORE = (PLACES < 0) ? -PLACES : 0;
  localparam int AFTER = (PLACES > 0) ? PLACES : 0;
  localparam int V = (RIGHT != 0) ? ACCW - 1 : ACCW;  // bits of the number behind the constant shift
  localparam int W = V + AFTER;
  localparam int FINE = BW / 2;  // bits of the distance in the second stage

  // The bits that a shift to the right by `places` loses.
  function automatic logic [W-1:0] lost_by(input int places);
    lost_by = (places >= W) ? '1 : (W'(1) << places) - W'(1);
  endfunction

  logic [LANES*OW-1:0] result;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
    logic signed [W-1:0] element;
    logic [BW-1:0] distance;
    if (ASIGNED != 0) assign element = W'($signed(elements[i*AW+:AW]));
    else assign element = W'(elements[i*AW+:AW]);
    assign distance = distances[i*BW+:BW];

    logic signed [V-1:0] coarse, coarse_kept, fine, fine_kept;
    always_comb begin
      coarse = V'((element <<< BEFORE) >>> AFTER);
      for (int k = FINE; k < BW; k++)
      if (distance[k]) coarse = (RIGHT != 0) ? coarse >>> (1 << k) : coarse <<< (1 << k);
    end
    always_ff @(posedge clk) if (enable) coarse_kept <= coarse;

    if (FINE > 0) begin : g_fine
      logic [FINE-1:0] left;
      always_ff @(posedge clk) if (enable) left <= distance[FINE-1:0];
      always_comb begin
        fine = coarse_kept;
        for (int k = 0; k < FINE; k++)
        if (left[k]) fine = (RIGHT != 0) ? fine >>> (1 << k) : fine <<< (1 << k);
      end
    end else begin : g_coarse
      assign fine = coarse_kept;
    end
    always_ff @(posedge clk) if (enable) fine_kept <= fine;

    logic signed [ACCW-1:0] acc;
    if (RIGHT != 0) begin : g_right
      // Whether bits were lost so far.
      logic coarse_rest, rest, rest_kept;
      logic signed [V-1:0] number;
      always_comb begin
        coarse_rest = |((element <<< BEFORE) & lost_by(AFTER));
        number = V'((element <<< BEFORE) >>> AFTER);
        for (int k = FINE; k < BW; k++)
        if (distance[k]) begin
          coarse_rest = coarse_rest | (|(number & V'(lost_by(1 << k))));
          number = number >>> (1 << k);
        end
      end
      always_ff @(posedge clk) if (enable) rest <= coarse_rest;
      if (FINE > 0) begin : g_fine_rest
        logic fine_rest;
        logic signed [V-1:0] left_number;
        always_comb begin
          fine_rest = rest;
          left_number = coarse_kept;
          for (int k = 0; k < FINE; k++)
          if (g_fine.left[k]) begin
            fine_rest = fine_rest | (|(left_number & V'(lost_by(1 << k))));
            left_number = left_number >>> (1 << k);
          end
        end
        always_ff @(posedge clk) if (enable) rest_kept <= fine_rest;
      end else begin : g_coarse_rest
        always_ff @(posedge clk) if (enable) rest_kept <= rest;
      end
      assign acc = ACCW'(signed'({fine_kept, rest_kept}));
    end else begin : g_left
      assign acc = fine_kept;
    end

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
        .in(acc),
        .out(result[i*OW+:OW])
    );
  end

  mase_skid #(
      .W(LANES * OW)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(valid[2]),
      .in_ready(enable),
      .in_data(result),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
