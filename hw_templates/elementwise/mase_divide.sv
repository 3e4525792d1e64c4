// SPDX-License-Identifier: Apache-2.0
// The quotient of two streams element by element, (a << ASHIFT) / (b << BSHIFT), rounded once: by restoring division
// of the magnitudes, one bit of QW a stage, whose last remainder becomes a bit below them, so that requantising
// rounds the exact quotient. A quotient of more than QW bits, as that of every x / 0, has all bits set; 0 / 0 is 0.
// Latency QW + 5: a skid per input, magnitudes, QW bits, sign, rounding, skid.
module mase_divide #(
    parameter int LANES = 1,
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int ASHIFT = 5,
    parameter int BW = 8,
    parameter int BSIGNED = 1,
    parameter int BSHIFT = 0,
    parameter int QW = 9,
    parameter int OW = 8,
    parameter int SHIFT = 2,
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

  localparam int STAGES = QW + 3;
  logic [STAGES-1:0] valid;
  always_ff @(posedge clk) begin
    if (rst) valid <= '0;
    else if (enable) valid <= {valid[STAGES-2:0], fire};
  end

  localparam int DW = BW + BSHIFT;
  localparam int NW = (AW + ASHIFT > QW + DW) ? AW + ASHIFT : QW + DW;  // numerator; its low QW bits come one by one
  localparam int ACCW = QW + 2;
  logic [LANES*OW-1:0] result;

  for (genvar i = 0; i < LANES; i++) begin : g_lane
    logic [AW-1:0] a;
    logic [BW-1:0] b;
    logic a_negative, b_negative;
    assign a = left[i*AW+:AW];
    assign b = right[i*BW+:BW];
    assign a_negative = ASIGNED != 0 && a[AW-1];
    assign b_negative = BSIGNED != 0 && b[BW-1];

    // Word k is what stage k begins with; the quotient's bits follow those of the numerator that are left.
    logic [AW-1:0] magnitude;
    logic [BW-1:0] first_divisor;
    logic [(QW+1)*BW-1:0] divisor;
    logic [(QW+1)*DW-1:0] remainder;
    logic [(QW+1)*QW-1:0] work;
    logic [QW:0] negative;
    logic [QW-1:0] over;
    logic [NW-1:0] numerator;
    assign numerator = NW'(magnitude) << ASHIFT;
    assign divisor[BW-1:0] = first_divisor;
    assign remainder[DW-1:0] = numerator[QW+:DW];
    assign work[QW-1:0] = numerator[QW-1:0];
    always_ff @(posedge clk)
      if (enable) begin
        magnitude <= a_negative ? AW'(-a) : a;
        first_divisor <= (b_negative ? BW'(-b) : b) | BW'(a == '0);  // 0 / 0 as 0 / 1
        negative <= {negative[QW-1:0], a_negative != b_negative};
        over <= QW'({over, numerator[NW-1:QW] >= (NW - QW)'(first_divisor) << BSHIFT});
      end

    for (genvar k = 0; k < QW; k++) begin : g_bit
      logic [DW:0] taken;
      logic [DW+1:0] difference;
      assign taken = {remainder[k*DW+:DW], work[k*QW+QW-1]};
      assign difference = (DW + 2)'(taken) - ((DW + 2)'(divisor[k*BW+:BW]) << BSHIFT);
      logic [BW-1:0] next_divisor;
      logic [DW-1:0] next_remainder;
      logic [QW-1:0] next_work;
      always_ff @(posedge clk)
        if (enable) begin
          next_divisor <= divisor[k*BW+:BW];
          next_remainder <= difference[DW+1] ? taken[DW-1:0] : difference[DW-1:0];
          next_work <= QW'({work[k*QW+:QW], !difference[DW+1]});
        end
      assign divisor[(k+1)*BW+:BW] = next_divisor;
      assign remainder[(k+1)*DW+:DW] = next_remainder;
      assign work[(k+1)*QW+:QW] = next_work;
      logic unused_bit;
      assign unused_bit = difference[DW];
    end

    logic [QW:0] exact;
    logic signed [ACCW-1:0] acc;
    assign exact = over[QW-1] ? '1 : {work[QW*QW+:QW], remainder[QW*DW+:DW] != '0};
    always_ff @(posedge clk)
      if (enable)
        acc <= negative[QW] ? -$signed({1'b0, exact}) : $signed({1'b0, exact});

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
    logic unused_divisor;
    assign unused_divisor = ^divisor[QW*BW+:BW];
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
