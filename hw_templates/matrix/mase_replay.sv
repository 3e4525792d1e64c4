// SPDX-License-Identifier: Apache-2.0
// mase_replay: keeps the beats of a row and gives them again. `data` is the beat at the address of the
// last enabled cycle; written beats are given as they come. Short rows stand in LUT memory read
// without a clock, so that nothing has to choose between the new beat and the kept one; long rows
// (more than 64 beats and at least 4096 bits) in block memory.
module mase_replay #(
    parameter int W = 64,
    parameter int DEPTH = 8,
    localparam int AB = (DEPTH > 1) ? $clog2(DEPTH) : 1
) (
    input  logic          clk,
    input  logic          enable,
    input  logic          write,
    input  logic [AB-1:0] address,
    input  logic [W-1:0]  in_data,
    output logic [W-1:0]  data
);

  if (DEPTH > 64 && DEPTH * W >= 4096) begin : g_block
    (* ram_style = "block" *) logic [W-1:0] mem[0:DEPTH-1];
    logic [W-1:0] kept, fresh;
    logic written;
    always_ff @(posedge clk) if (write) mem[address] <= in_data;
    always_ff @(posedge clk) if (enable) kept <= mem[address];
    always_ff @(posedge clk)
      if (enable) begin
        fresh   <= in_data;
        written <= write;
      end
    assign data = written ? fresh : kept;
  end else if (DEPTH > 1) begin : g_lut
    (* ram_style = "distributed" *) logic [W-1:0] mem[0:DEPTH-1];
    logic [AB-1:0] read_address;
    always_ff @(posedge clk) if (write) mem[address] <= in_data;
    always_ff @(posedge clk) if (enable) read_address <= address;
    assign data = mem[read_address];
  end else begin : g_one
    always_ff @(posedge clk) if (write && enable && address == '0) data <= in_data;
  end

endmodule
