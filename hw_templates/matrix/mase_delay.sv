// SPDX-License-Identifier: Apache-2.0
// mase_delay: `out` is what `in` was STAGES enabled cycles ago.
module mase_delay #(
    parameter int W = 8,
    parameter int STAGES = 1
) (
    input  logic         clk,
    input  logic         enable,
    input  logic [W-1:0] in,
    output logic [W-1:0] out
);

  if (STAGES == 0) begin : g_wire
    logic unused;
    assign unused = &{clk, enable};
    assign out = in;
  end else if (STAGES == 1) begin : g_register
    always_ff @(posedge clk) if (enable) out <= in;
  end else begin : g_registers
    logic [(STAGES-1)*W-1:0] kept;
    always_ff @(posedge clk) if (enable) {out, kept} <= {kept, in};
  end

endmodule
