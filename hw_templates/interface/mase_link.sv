// SPDX-License-Identifier: Apache-2.0
// What lies between the ports of two devices, for simulation: a beat is on its way into the link for INTERVAL cycles, and
// at the other end LATENCY cycles after the last of these. It holds two beats for every cycle of latency, and a receiver
// that pauses is known to the sender LATENCY cycles later.
module mase_link #(
    parameter int W = 9,
    parameter int LATENCY = 1,
    parameter int INTERVAL = 1
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         in_valid,
    output logic         in_ready,
    input  logic [W-1:0] in_data,
    output logic         out_valid,
    input  logic         out_ready,
    output logic [W-1:0] out_data
);
  // Between the stages: index 0 is the input, LATENCY the output.
  logic [LATENCY:0] valid, ready;
  logic [(LATENCY+1)*W-1:0] data;
  assign out_valid = valid[LATENCY];
  assign ready[LATENCY] = out_ready;
  assign out_data = data[LATENCY*W+:W];

  if (INTERVAL == 1) begin : g_each_cycle
    assign valid[0] = in_valid;
    assign in_ready = ready[0];
    assign data[W-1:0] = in_data;
  end else begin : g_paced
    localparam int CW = (INTERVAL > 2) ? $clog2(INTERVAL - 1) : 1;
    logic full;
    logic [CW-1:0] left;  // cycles in which the beat is still on its way into the link
    logic [W-1:0] beat;
    assign in_ready = !full;
    assign valid[0] = full && left == '0;
    assign data[W-1:0] = beat;

    always_ff @(posedge clk) begin
      if (rst) begin
        full <= 1'b0;
        left <= '0;
      end else begin
        full <= full ? !(valid[0] && ready[0]) : in_valid;
        if (!full) left <= CW'(INTERVAL - 2);
        else if (left != '0) left <= left - 1'b1;
      end
    end
    always_ff @(posedge clk) if (in_ready) beat <= in_data;
  end

  for (genvar i = 0; i < LATENCY; i++) begin : g_stage
    mase_skid #(
        .W(W)
    ) stage (
        .clk(clk),
        .rst(rst),
        .in_valid(valid[i]),
        .in_ready(ready[i]),
        .in_data(data[i*W+:W]),
        .out_valid(valid[i+1]),
        .out_ready(ready[i+1]),
        .out_data(data[(i+1)*W+:W])
    );
  end
endmodule
