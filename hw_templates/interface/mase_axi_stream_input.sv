// SPDX-License-Identifier: Apache-2.0
// AXI4-Stream in: element i of a beat lies in the low DW bits of TDATA's LANE bits from i * LANE on; the rest
// of TDATA is padding and ignored. Any number of whole frames of BEATS beats may come between two TLAST. A TLAST
// inside a frame is an error: zeros fill that frame up, and the next beat begins a new one. So is a beat that
// TKEEP takes a byte of an element from. `error` is high for a cycle then, `frame` when a frame is in.
module mase_axi_stream_input #(
    parameter int LANES = 1,
    parameter int DW = 8,
    parameter int LANE = 8,
    parameter int TW = 8,
    parameter int BEATS = 1
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                s_axis_tvalid,
    output logic                s_axis_tready,
    input  logic [      TW-1:0] s_axis_tdata,
    input  logic [    TW/8-1:0] s_axis_tkeep,
    input  logic                s_axis_tlast,
    output logic                out_valid,
    input  logic                out_ready,
    output logic [LANES*DW-1:0] out_data,
    output logic                error,
    output logic                frame
);
  localparam int CW = (BEATS > 1) ? $clog2(BEATS) : 1;
  localparam logic [CW-1:0] LAST = CW'(BEATS - 1);

  // Padding has no reader.
  logic unused_padding;
  assign unused_padding = &{1'b0, s_axis_tdata, s_axis_tkeep};

  logic [LANES*DW-1:0] elements;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
    assign elements[i*DW+:DW] = s_axis_tdata[i*LANE+:DW];
  end
  logic [TW/8-1:0] missing;
  for (genvar b = 0; b < TW / 8; b++) begin : g_byte
    localparam bit USED = 8 * b < LANES * LANE && 8 * b % LANE < DW;
    assign missing[b] = USED && !s_axis_tkeep[b];
  end

  logic ready, filling, moves, last;
  logic [CW-1:0] index;
  assign s_axis_tready = ready && !filling;
  assign moves = ready && (filling || s_axis_tvalid);
  assign last = index == LAST;

  always_ff @(posedge clk) begin
    if (rst) begin
      index <= '0;
      filling <= 1'b0;
    end else if (moves) begin
      index <= last ? '0 : index + 1'b1;
      filling <= !last && (filling || s_axis_tlast);
    end
  end
  always_ff @(posedge clk) begin
    error <= !rst && moves && !filling && ((s_axis_tlast && !last) || |missing);
    frame <= !rst && moves && last;
  end

  mase_skid #(
      .W(LANES * DW)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(filling || s_axis_tvalid),
      .in_ready(ready),
      .in_data(filling ? '0 : elements),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
