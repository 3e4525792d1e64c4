// SPDX-License-Identifier: Apache-2.0
// Two-entry buffer that cuts every path between its two handshakes: one cycle of latency, a beat
// per cycle. Both ready and valid are registers.
module mase_skid #(
    parameter int W = 8
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
  // Invariant: the spare entry is used (in_ready low) only while the output is valid.
  logic [W-1:0] spare;
  logic advance;
  assign advance = !out_valid || out_ready;

  always_ff @(posedge clk) begin
    if (rst) begin
      out_valid <= 1'b0;
      in_ready  <= 1'b1;
    end else if (advance) begin
      out_valid <= in_valid || !in_ready;
      in_ready  <= 1'b1;
    end else if (in_valid) begin
      in_ready <= 1'b0;
    end
  end

  always_ff @(posedge clk) if (in_ready) spare <= in_data;
  always_ff @(posedge clk) if (advance) out_data <= in_ready ? in_data : spare;
endmodule
