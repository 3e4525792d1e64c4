// SPDX-License-Identifier: Apache-2.0
// Joins two streams element by element. OP 0: (a << ASHIFT) + (b << BSHIFT); 1: the difference;
// 2: a * b; 3, 4: the larger or the smaller of the shifted. Then requantised. Latency 4: a skid per
// input, result, rounding, skid; 5 for products, whose operands have registers too.
module mase_binary #(
    parameter int OP = 0,
    parameter int LANES = 1,
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int ASHIFT = 0,
    parameter int BW = 8,
    parameter int BSIGNED = 1,
    parameter int BSHIFT = 0,
    parameter int ACCW = 16,
    parameter int OW = 8,
    parameter int SHIFT = 0,
    parameter int DIVISOR = 1,
    parameter int ROUND = 1,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127,
    parameter int MULTIPLIER = 0
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
  logic [LANES*AW-1:0] left;
  logic [LANES*BW-1:0] right;
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
      .out_data(left)
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
      .out_data(right)
  );

  localparam int STAGES = (OP == 2) ? 3 : 2;
  logic [STAGES-1:0] valid;
  always_ff @(posedge clk) begin
    if (rst) valid <= '0;
    else if (enable) valid <= {valid[STAGES-2:0], fire};
  end

  logic [LANES*OW-1:0] result;

  for (genvar i = 0; i < LANES; i++) begin : g_lane
    logic signed [ACCW-1:0] acc;
    if (OP == 2) begin : g_multiply
      mase_multiply_stage #(
          .AW(AW),
          .ASIGNED(ASIGNED),
          .BW(BW),
          .BSIGNED(BSIGNED),
          .W(ACCW),
          .MULTIPLIER(MULTIPLIER)
      ) multiplier (
          .clk,
          .enable,
          .a(left[i*AW+:AW]),
          .b(right[i*BW+:BW]),
          .product(acc)
      );
    end else if (OP >= 3) begin : g_choose
      logic signed [ACCW-1:0] a, b;
      if (ASIGNED != 0) assign a = ACCW'($signed(left[i*AW+:AW])) <<< ASHIFT;
      else assign a = ACCW'(left[i*AW+:AW]) <<< ASHIFT;
      if (BSIGNED != 0) assign b = ACCW'($signed(right[i*BW+:BW])) <<< BSHIFT;
      else assign b = ACCW'(right[i*BW+:BW]) <<< BSHIFT;
      logic less;
      mase_less #(
          .W(ACCW)
      ) compare (
          .a,
          .b,
          .less
      );
      always_ff @(posedge clk) if (enable) acc <= less == (OP == 3) ? b : a;
    end else begin : g_add
      logic signed [AW:0] a;
      logic signed [BW:0] b;
      assign a = {ASIGNED != 0 && left[i*AW+AW-1], left[i*AW+:AW]};
      assign b = {BSIGNED != 0 && right[i*BW+BW-1], right[i*BW+:BW]};
      if (OP == 1) begin : g_subtract
        always_ff @(posedge clk) if (enable) acc <= (ACCW'(a) <<< ASHIFT) - (ACCW'(b) <<< BSHIFT);
      end else begin : g_sum
        always_ff @(posedge clk) if (enable) acc <= (ACCW'(a) <<< ASHIFT) + (ACCW'(b) <<< BSHIFT);
      end
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
      .in_valid(valid[STAGES-1]),
      .in_ready(enable),
      .in_data(result),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
