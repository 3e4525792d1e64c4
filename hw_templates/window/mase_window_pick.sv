// SPDX-License-Identifier: Apache-2.0
// The window of one pixel without padding: every SH-th row and SW-th column passes, the rest is
// dropped as it comes. With stride 1 this is a skid.
module mase_window_pick #(
    parameter int H  = 4,
    parameter int W  = 4,
    parameter int CF = 1,
    parameter int SH = 1,
    parameter int SW = 1,
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

  if (SH == 1 && SW == 1) begin : g_all
    assign keep = 1'b1;
  end else begin : g_some
    localparam int ROW = W * CF;
    localparam int XW = (ROW > 1) ? $clog2(ROW) : 1;
    localparam int YW = (H > 1) ? $clog2(H) : 1;
    localparam int PXW = (SW * CF > 1) ? $clog2(SW * CF) : 1;
    localparam int PYW = (SH > 1) ? $clog2(SH) : 1;
    logic [XW-1:0] x;  // beat of the row
    logic [YW-1:0] y;
    logic [PXW-1:0] phase_x;  // beat since the last kept column
    logic [PYW-1:0] phase_y;
    wire fire = in_valid && in_ready;
    wire last_x = x == XW'(ROW - 1);
    wire last_y = y == YW'(H - 1);

    always_ff @(posedge clk)
      if (rst) begin
        x       <= '0;
        phase_x <= '0;
        y       <= '0;
        phase_y <= '0;
      end else if (fire) begin
        x       <= last_x ? '0 : x + 1'b1;
        phase_x <= (last_x || phase_x == PXW'(SW * CF - 1)) ? '0 : phase_x + 1'b1;
        if (last_x) begin
          y       <= last_y ? '0 : y + 1'b1;
          phase_y <= (last_y || phase_y == PYW'(SH - 1)) ? '0 : phase_y + 1'b1;
        end
      end
    if (SW == 1) begin : g_rows
      assign keep = phase_y == '0;
    end else begin : g_both
      assign keep = phase_y == '0 && 32'(phase_x) < CF;
    end
  end
endmodule
