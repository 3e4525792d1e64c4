// SPDX-License-Identifier: Apache-2.0
// mase_reload_memory: a memory image as mase_rom has it, which a host may replace while no frame is in the design.
// `reload` is {write, address, data}. Word w of the image takes the addresses from BASE + w * 2^PB on, 32 bits each, the
// low ones first; BASE is a multiple of the power of two that all of them take up. `write` is high for a cycle, and
// address and data stay for one more.
module mase_reload_memory #(
    parameter int W = 8,
    parameter int DEPTH = 16,
    parameter FILE = "",
    parameter int BLOCK = 0,
    parameter int BASE = 0,
    localparam int AB = (DEPTH > 1) ? $clog2(DEPTH) : 1
) (
    input  logic          clk,
    input  logic [  56:0] reload,
    input  logic          enable,
    input  logic [AB-1:0] address,
    output logic [ W-1:0] data
);

  localparam int PIECES = (W + 31) / 32;
  localparam int PB = $clog2(PIECES);
  localparam int USED = PB + $clog2(DEPTH);  // bits of an address that the memory itself looks at

  logic [PIECES-1:0] writes;
  logic hit;
  assign hit = reload[56] && reload[55:32] >> USED == 24'(BASE) >> USED;
  for (genvar p = 0; p < PIECES; p++) begin : g_piece
    always_ff @(posedge clk)
      writes[p] <= hit && (PIECES == 1 || (reload[55:32] & 24'((1 << PB) - 1)) == 24'(p));
  end

  // Whole pieces: the bits above W have no reader.
  logic [32*PIECES-1:0] word;
  assign data = word[W-1:0];
  if (32 * PIECES > W) begin : g_rest
    logic unused_rest;
    assign unused_rest = &{1'b0, word[32*PIECES-1:W]};
  end

  if (DEPTH == 1) begin : g_register
    logic [32*PIECES-1:0] mem[0:0];
    logic unused_address;
    assign unused_address = &{1'b0, enable, address};
    initial $readmemh(FILE, mem);
    for (genvar p = 0; p < PIECES; p++) begin : g_write
      always_ff @(posedge clk) if (writes[p]) mem[0][32*p+:32] <= reload[31:0];
    end
    assign word = mem[0];
  end else if (BLOCK != 0) begin : g_block
    (* ram_style = "block" *) logic [32*PIECES-1:0] mem[0:DEPTH-1];
    initial $readmemh(FILE, mem);
    for (
        genvar p = 0; p < PIECES; p++
    ) begin : g_write  // no loop: simulators do not unroll long ones
      always @(posedge clk) if (writes[p]) mem[reload[32+PB+:AB]][32*p+:32] <= reload[31:0];
    end
    always_ff @(posedge clk) if (enable) word <= mem[address];
  end else begin : g_distributed
    (* ram_style = "distributed" *) logic [32*PIECES-1:0] mem[0:DEPTH-1];
    initial $readmemh(FILE, mem);
    for (
        genvar p = 0; p < PIECES; p++
    ) begin : g_write  // no loop: simulators do not unroll long ones
      always @(posedge clk) if (writes[p]) mem[reload[32+PB+:AB]][32*p+:32] <= reload[31:0];
    end
    always_ff @(posedge clk) if (enable) word <= mem[address];
  end

endmodule
