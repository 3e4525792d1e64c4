// SPDX-License-Identifier: Apache-2.0
// mase_rom: a memory image read one word per cycle into a register, as block memory (BLOCK = 1) or in
// LUTs. Without the attribute Yosys never uses block memory here.
module mase_rom #(
    parameter int W = 8,
    parameter int DEPTH = 16,
    parameter FILE = "",
    parameter int BLOCK = 0,
    localparam int AB = (DEPTH > 1) ? $clog2(DEPTH) : 1
) (
    input  logic          clk,
    input  logic          enable,
    input  logic [AB-1:0] address,
    output logic [W-1:0]  data
);

  if (BLOCK != 0) begin : g_block
    (* rom_style = "block" *) logic [W-1:0] mem[0:DEPTH-1];
    initial $readmemh(FILE, mem);
    always_ff @(posedge clk) if (enable) data <= mem[address];
  end else begin : g_lut
    logic [W-1:0] mem[0:DEPTH-1];
    initial $readmemh(FILE, mem);
    always_ff @(posedge clk) if (enable) data <= mem[address];
  end

endmodule
