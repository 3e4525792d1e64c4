// SPDX-License-Identifier: Apache-2.0
// A memory with one write port and one registered read with enable: in block RAM when BLOCK is 1,
// in LUT RAM otherwise.
module mase_window_memory #(
    parameter int W     = 8,
    parameter int DEPTH = 16,
    parameter int BLOCK = 0,
    parameter int AW    = (DEPTH > 1) ? $clog2(DEPTH) : 1
) (
    input  logic          clk,
    input  logic          write,
    input  logic [AW-1:0] write_address,
    input  logic [ W-1:0] write_data,
    input  logic          read,
    input  logic [AW-1:0] read_address,
    output logic [ W-1:0] read_data
);
  if (BLOCK != 0) begin : g_block
    (* ram_style = "block" *) logic [W-1:0] mem[0:DEPTH-1];
    always_ff @(posedge clk) if (write) mem[write_address] <= write_data;
    always_ff @(posedge clk) if (read) read_data <= mem[read_address];
  end else begin : g_distributed
    (* ram_style = "distributed" *) logic [W-1:0] mem[0:DEPTH-1];
    always_ff @(posedge clk) if (write) mem[write_address] <= write_data;
    always_ff @(posedge clk) if (read) read_data <= mem[read_address];
  end
endmodule
