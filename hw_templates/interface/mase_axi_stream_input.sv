// SPDX-License-Identifier: Apache-2.0
// AXI4-Stream in, with TDATA in whole bytes (the padding is ignored) and BEATS beats per frame. `error`
// goes high and stays so when TLAST is not exactly on the last beat of a frame.
module mase_axi_stream_input #(
    parameter int W = 8,
    parameter int BEATS = 1,
    localparam int TW = (W + 7) / 8 * 8
) (
    input  logic          clk,
    input  logic          rst,
    input  logic          s_axis_tvalid,
    output logic          s_axis_tready,
    input  logic [TW-1:0] s_axis_tdata,
    input  logic          s_axis_tlast,
    output logic          out_valid,
    input  logic          out_ready,
    output logic [ W-1:0] out_data,
    output logic          error
);
  localparam int CW = (BEATS > 1) ? $clog2(BEATS) : 1;
  localparam logic [CW-1:0] LAST = CW'(BEATS - 1);

  // Padding bits of TDATA have no reader.
  logic unused_padding;
  assign unused_padding = &{1'b0, s_axis_tdata};

  logic [CW-1:0] index;
  always_ff @(posedge clk) begin
    if (rst) begin
      index <= '0;
      error <= 1'b0;
    end else if (s_axis_tvalid && s_axis_tready) begin
      index <= (index == LAST) ? '0 : index + 1'b1;
      error <= error || s_axis_tlast != (index == LAST);
    end
  end

  mase_skid #(
      .W(W)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(s_axis_tvalid),
      .in_ready(s_axis_tready),
      .in_data(W'(s_axis_tdata)),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
