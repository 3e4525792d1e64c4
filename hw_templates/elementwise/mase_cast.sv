// SPDX-License-Identifier: Apache-2.0
// Changes the type of every element; also relu, relu6 and other clamps. Latency 2.
module mase_cast #(
    parameter int LANES = 1,
    parameter int IW = 16,
    parameter int ISIGNED = 1,
    parameter int OW = 8,
    parameter int SHIFT = 4,
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
  logic valid;
  logic [LANES*OW-1:0] result;
  always_ff @(posedge clk) begin
    if (rst) valid <= 1'b0;
    else if (in_ready) valid <= in_valid;
  end

  for (genvar i = 0; i < LANES; i++) begin : g_lane
    localparam int XW = (ISIGNED != 0) ? IW : IW + 1;
    logic [IW-1:0] code;
    assign code = in_data[i*IW+:IW];
    mase_requantise_stage #(
        .IW(XW),
        .OW(OW),
        .SHIFT(SHIFT),
        .DIVISOR(DIVISOR),
        .ROUND(ROUND),
        .LOW(LOW),
        .HIGH(HIGH)
    ) convert (
        .clk(clk),
        .enable(in_ready),
        .in(XW'({1'b0, code})),
        .out(result[i*OW+:OW])
    );
  end

  mase_skid #(
      .W(LANES * OW)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(valid),
      .in_ready(in_ready),
      .in_data(result),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
