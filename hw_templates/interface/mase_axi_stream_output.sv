// SPDX-License-Identifier: Apache-2.0
// AXI4-Stream out, with TDATA in whole bytes (zero padding), all bytes kept, and TLAST on the last of
// every BEATS beats.
module mase_axi_stream_output #(
    parameter int W = 8,
    parameter int BEATS = 1,
    localparam int TW = (W + 7) / 8 * 8
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            in_valid,
    output logic            in_ready,
    input  logic [   W-1:0] in_data,
    output logic            m_axis_tvalid,
    input  logic            m_axis_tready,
    output logic [  TW-1:0] m_axis_tdata,
    output logic [TW/8-1:0] m_axis_tkeep,
    output logic            m_axis_tlast
);
  localparam int CW = (BEATS > 1) ? $clog2(BEATS) : 1;
  localparam logic [CW-1:0] LAST = CW'(BEATS - 1);

  logic [CW-1:0] index;
  logic [W-1:0] data;
  assign m_axis_tdata = TW'(data);
  assign m_axis_tkeep = '1;
  assign m_axis_tlast = index == LAST;

  always_ff @(posedge clk) begin
    if (rst) index <= '0;
    else if (m_axis_tvalid && m_axis_tready) index <= m_axis_tlast ? '0 : index + 1'b1;
  end

  mase_skid #(
      .W(W)
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
