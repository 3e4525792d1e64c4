// SPDX-License-Identifier: Apache-2.0
// What lies between the ports of two devices, for simulation: LATENCY cycles of latency, a beat per cycle. It holds
// two beats for every cycle of latency, and a receiver that pauses is known to the sender LATENCY cycles later.
module mase_link #(
    parameter int W = 9,
    parameter int LATENCY = 1
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
  assign valid[0] = in_valid;
  assign in_ready = ready[0];
  assign data[W-1:0] = in_data;
  assign out_valid = valid[LATENCY];
  assign ready[LATENCY] = out_ready;
  assign out_data = data[LATENCY*W+:W];

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
