// SPDX-License-Identifier: Apache-2.0
// mase_pack: out = sum over COUNT codes of in[f] * 2^(f * PITCH), which times an operand has the products of that operand
// and of every code PITCH bits apart. The lowest code is added last: the adder in front of a DSP block's multiplier
// takes that addition.
module mase_pack #(
    parameter int COUNT = 2,
    parameter int W = 8,
    parameter int PITCH = 16,
    localparam int OW = (COUNT - 1) * PITCH + W + ((COUNT > 1) ? 1 : 0)
) (
    input  logic [COUNT*W-1:0] in,  // signed codes
    output logic [OW-1:0]      out  // signed
);

  for (genvar f = COUNT - 1; f >= 0; f--) begin : g_code
    localparam int SW = OW - f * PITCH;
    logic [SW-1:0] sum;  // of this code and those above it
    if (f == COUNT - 1) begin : g_highest
      assign sum = SW'($signed(in[f*W+:W]));
    end else begin : g_other
      assign sum = SW'($signed({g_code[f+1].sum, {PITCH{1'b0}}})) + SW'($signed(in[f*W+:W]));
    end
  end
  assign out = g_code[0].sum;

endmodule
