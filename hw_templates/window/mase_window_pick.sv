// SPDX-License-Identifier: Apache-2.0
// The window of one pixel without padding: of the rows from -PH on every SH-th passes until there
// were OH, of the columns likewise; the rest is dropped as it comes. When all pass this is a skid.
module mase_window_pick #(
    parameter int H  = 4,
    parameter int W  = 4,
    parameter int CF = 1,
    parameter int SH = 1,
    parameter int SW = 1,
    parameter int PH = 0,
    parameter int PW = 0,
    parameter int OH = 4,
    parameter int OW = 4,
    parameter int DW = 8
) (
    input  logic          clk,
    input  logic          rst,
    input  logic          in_valid,
    output logic          in_ready,
    input  logic [DW-1:0] in_data,
    output logic          out_valid,
    input  logic          out_ready,
    output logic [DW-1:0] out_data
);
  logic keep;

  mase_skid #(
      .W(DW)
  ) out_skid (
      .clk,
      .rst,
      .in_valid(in_valid && keep),
      .in_ready,
      .in_data,
      .out_valid,
      .out_ready,
      .out_data
  );

  localparam bit ALL_ROWS = SH == 1 && OH == H;
  localparam bit ALL_COLUMNS = SW == 1 && OW == W;
  if (ALL_ROWS && ALL_COLUMNS) begin : g_all
    assign keep = 1'b1;
  end else begin : g_some
    localparam int ROW = W * CF;
    localparam int XW = (ROW > 1) ? $clog2(ROW) : 1;
    localparam int YW = (H > 1) ? $clog2(H) : 1;
    localparam int PXW = (SW * CF > 1) ? $clog2(SW * CF) : 1;
    localparam int PYW = (SH > 1) ? $clog2(SH) : 1;
    // Phases of the first row and column, so that those at -PH and -PW have phase 0.
    localparam int START_Y = (SH - (-PH) % SH) % SH;
    localparam int START_X = (SW - (-PW) % SW) % SW * CF;
    localparam int END_Y = -PH + (OH - 1) * SH;  // the last that passes
    localparam int END_X = (-PW + (OW - 1) * SW + 1) * CF - 1;
    logic [XW-1:0] x;  // beat of the row
    logic [YW-1:0] y;
    logic [PXW-1:0] phase_x;  // beat since the last column that may pass
    logic [PYW-1:0] phase_y;
    wire fire = in_valid && in_ready;
    wire last_x = x == XW'(ROW - 1);
    wire last_y = y == YW'(H - 1);

    always_ff @(posedge clk)
      if (rst) begin
        x       <= '0;
        phase_x <= PXW'(START_X);
        y       <= '0;
        phase_y <= PYW'(START_Y);
      end else if (fire) begin
        x <= last_x ? '0 : x + 1'b1;
        phase_x <= last_x ? PXW'(START_X) : (phase_x == PXW'(SW * CF - 1)) ? '0 : phase_x + 1'b1;
        if (last_x) begin
          y <= last_y ? '0 : y + 1'b1;
          phase_y <= last_y ? PYW'(START_Y) : (phase_y == PYW'(SH - 1)) ? '0 : phase_y + 1'b1;
        end
      end

    logic in_phase_x, in_phase_y, from_x, from_y, to_x, to_y;
    if (SW == 1) assign in_phase_x = 1'b1;
    else assign in_phase_x = 32'(phase_x) < CF;
    if (SH == 1) assign in_phase_y = 1'b1;
    else assign in_phase_y = phase_y == '0;
    // Comparisons that always hold are left out.
    if (-PW < SW) assign from_x = 1'b1;
    else assign from_x = x >= XW'(-PW * CF);
    if (-PH < SH) assign from_y = 1'b1;
    else assign from_y = y >= YW'(-PH);
    if (END_X + (SW - 1) * CF >= ROW - 1) assign to_x = 1'b1;
    else assign to_x = x <= XW'(END_X);
    if (END_Y + SH > H - 1) assign to_y = 1'b1;
    else assign to_y = y <= YW'(END_Y);
    assign keep = in_phase_x && in_phase_y && from_x && from_y && to_x && to_y;
  end
endmodule
