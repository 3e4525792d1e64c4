// SPDX-License-Identifier: Apache-2.0
// AXI4-Stream out: element i of a beat takes TDATA's LANE bits from i * LANE on, sign-extended when SIGNED; the
// rest of TDATA is zero, and all bytes are kept. TLAST is on the last of every BEATS * `frames` beats, counted
// anew after `restart`; with 0 frames there is none. `frame` is high for a cycle when a frame has left.
module mase_axi_stream_output #(
    parameter int LANES = 1,
    parameter int DW = 8,
    parameter int SIGNED = 1,
    parameter int LANE = 8,
    parameter int TW = 8,
    parameter int BEATS = 1
) (
    input  logic                clk,
    input  logic                rst,
    input  logic [        31:0] frames,
    input  logic                restart,
    input  logic                in_valid,
    output logic                in_ready,
    input  logic [LANES*DW-1:0] in_data,
    output logic                m_axis_tvalid,
    input  logic                m_axis_tready,
    output logic [      TW-1:0] m_axis_tdata,
    output logic [    TW/8-1:0] m_axis_tkeep,
    output logic                m_axis_tlast,
    output logic                frame
);
  localparam int CW = (BEATS > 1) ? $clog2(BEATS) : 1;
  localparam logic [CW-1:0] LAST = CW'(BEATS - 1);

  logic [LANES*DW-1:0] data;
  logic [LANES*LANE-1:0] lanes;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
    assign lanes[i*LANE+:DW] = data[i*DW+:DW];
    if (LANE > DW) begin : g_padding
      logic sign;
      assign sign = SIGNED != 0 && data[i*DW+DW-1];
      assign lanes[i*LANE+DW+:LANE-DW] = {(LANE - DW) {sign}};
    end
  end
  assign m_axis_tdata = TW'(lanes);
  assign m_axis_tkeep = '1;

  logic moves, last;
  logic [CW-1:0] index;
  logic [31:0] number;  // of the frame in its transfer, from 1 on
  assign moves = m_axis_tvalid && m_axis_tready;
  assign last = index == LAST;
  assign m_axis_tlast = last && number == frames;

  always_ff @(posedge clk) begin
    if (rst) index <= '0;
    else if (moves) index <= last ? '0 : index + 1'b1;
  end
  always_ff @(posedge clk) begin
    if (rst || restart) number <= 32'd1;
    else if (moves && last) number <= m_axis_tlast ? 32'd1 : number + 1'b1;
  end
  always_ff @(posedge clk) frame <= !rst && moves && last;

  mase_skid #(
      .W(LANES * DW)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(in_data),
      .out_valid(m_axis_tvalid),
      .out_ready(m_axis_tready),
      .out_data(data)
  );
endmodule
