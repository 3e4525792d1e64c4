// SPDX-License-Identifier: Apache-2.0
// Changes the lanes of a stream. No bubble in steady state: the narrow side moves a beat per cycle.
module mase_stream_resize #(
    parameter int W = 8,
    parameter int IN_LANES = 4,
    parameter int OUT_LANES = 1
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   in_valid,
    output logic                   in_ready,
    input  logic [ IN_LANES*W-1:0] in_data,
    output logic                   out_valid,
    input  logic                   out_ready,
    output logic [OUT_LANES*W-1:0] out_data
);
  localparam int RATIO = (IN_LANES > OUT_LANES) ? IN_LANES / OUT_LANES : OUT_LANES / IN_LANES;
  localparam int NW = ((IN_LANES > OUT_LANES) ? OUT_LANES : IN_LANES) * W;  // of a narrow beat
  localparam int CW = (RATIO > 1) ? $clog2(RATIO) : 1;
  localparam logic [CW-1:0] BEFORE_LAST = CW'(RATIO - 2);  // moving a wide beat waits for no comparison

  if (IN_LANES % OUT_LANES != 0 && OUT_LANES % IN_LANES != 0) begin : g_neither
    mase_stream_regroup #(
        .W(W),
        .IN_LANES(IN_LANES),
        .OUT_LANES(OUT_LANES)
    ) regroup (
        .clk(clk),
        .rst(rst),
        .in_valid(in_valid),
        .in_ready(in_ready),
        .in_data(in_data),
        .out_valid(out_valid),
        .out_ready(out_ready),
        .out_data(out_data)
    );
  end else if (RATIO == 1) begin : g_same
    mase_skid #(
        .W(NW)
    ) buffer (
        .clk(clk),
        .rst(rst),
        .in_valid(in_valid),
        .in_ready(in_ready),
        .in_data(in_data),
        .out_valid(out_valid),
        .out_ready(out_ready),
        .out_data(out_data)
    );
  end else if (IN_LANES > OUT_LANES) begin : g_down
    // A wide register, read piece by piece into a skid. The next wide beat enters with the cycle in
    // which the last piece leaves.
    logic [RATIO*NW-1:0] wide;
    logic [CW-1:0] index;
    logic last, full, enable;
    assign in_ready = !full || (enable && last);

    always_ff @(posedge clk) begin
      if (rst) begin
        full  <= 1'b0;
        index <= '0;
        last  <= 1'b0;
      end else begin
        if (in_ready) full <= in_valid;
        if (full && enable) begin
          index <= last ? '0 : index + 1'b1;
          last  <= index == BEFORE_LAST;
        end
      end
    end
    always_ff @(posedge clk) if (in_ready) wide <= in_data;

    // Bit by bit of the index, lowest first: half as many pieces are left by each. Written as a part
    // select it would be a multiplication of the index, and a shifter.
    for (genvar k = 0; k <= CW; k++) begin : g_choice
      localparam int LEFT = (RATIO + (1 << k) - 1) >> k;
      logic [LEFT*NW-1:0] pieces;
      if (k == 0) begin : g_all
        assign pieces = wide;
      end else begin : g_some
        for (genvar i = 0; i < LEFT; i++) begin : g_piece
          if (((2 * i + 1) << (k - 1)) < RATIO) begin : g_two
            assign pieces[i*NW+:NW] = index[k-1] ? g_choice[k-1].pieces[(2*i+1)*NW+:NW]
                                                 : g_choice[k-1].pieces[2*i*NW+:NW];
          end else begin : g_one
            assign pieces[i*NW+:NW] = g_choice[k-1].pieces[2*i*NW+:NW];
          end
        end
      end
    end

    mase_skid #(
        .W(NW)
    ) buffer (
        .clk(clk),
        .rst(rst),
        .in_valid(full),
        .in_ready(enable),
        .in_data(g_choice[CW].pieces),
        .out_valid(out_valid),
        .out_ready(out_ready),
        .out_data(out_data)
    );
  end else begin : g_up
    // The first pieces shift into `pieces`; the last one goes with them into the output register, which
    // a following frame's pieces do not need before it is read.
    logic [(RATIO-1)*NW-1:0] pieces;
    logic [CW-1:0] index;
    logic last, complete;
    assign in_ready = !last || !out_valid;
    assign complete = in_valid && last && !out_valid;

    always_ff @(posedge clk) begin
      if (rst) begin
        index <= '0;
        last <= 1'b0;
        out_valid <= 1'b0;
      end else begin
        if (in_valid && in_ready) begin
          index <= last ? '0 : index + 1'b1;
          last  <= index == BEFORE_LAST;
        end
        out_valid <= complete || (out_valid && !out_ready);
      end
    end
    always_ff @(posedge clk)
      if (in_valid && !last)
        pieces <= ((RATIO - 1) * NW)'({in_data, pieces} >> NW);
    always_ff @(posedge clk) if (complete) out_data <= {in_data, pieces};
  end
endmodule
