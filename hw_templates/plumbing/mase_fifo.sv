// SPDX-License-Identifier: Apache-2.0
// Queue of a memory with registered read, whose register is the output: holds DEPTH + 1 beats, two
// cycles from an empty queue's input to its output, a beat per cycle (DEPTH 1: every second cycle).
// Block memories give their words late in the cycle: a register more, that moves with the first, a cycle
// and up to a beat more.
module mase_fifo #(
    parameter int W = 8,
    parameter int DEPTH = 4,
    parameter int BLOCK = (DEPTH > 64 && DEPTH * W >= 2048) ? 1 : 0
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
  localparam int AW = (DEPTH > 1) ? $clog2(DEPTH) : 1;
  localparam int CW = $clog2(DEPTH + 1);
  localparam logic [AW-1:0] LAST = AW'(DEPTH - 1);

  logic [AW-1:0] write_address, read_address;
  logic [CW-1:0] count;  // beats in the memory, without the output register
  logic push, pull, move;
  assign in_ready = count != CW'(DEPTH);
  assign push = in_valid && in_ready;
  assign move = !out_valid || out_ready;
  assign pull = count != '0 && move;

  always_ff @(posedge clk) begin
    if (rst) begin
      write_address <= '0;
      read_address <= '0;
      count <= '0;
    end else begin
      if (push) write_address <= (write_address == LAST) ? '0 : write_address + 1'b1;
      if (pull) read_address <= (read_address == LAST) ? '0 : read_address + 1'b1;
      if (push && !pull) count <= count + 1'b1;
      if (pull && !push) count <= count - 1'b1;
    end
  end

  // A pulled word was written at least one cycle before: the two addresses differ then.
  if (BLOCK != 0) begin : g_block
    (* ram_style = "block" *) logic [W-1:0] mem[0:DEPTH-1];
    logic [W-1:0] word;
    logic word_valid;
    always_ff @(posedge clk) if (push) mem[write_address] <= in_data;
    always_ff @(posedge clk)
      if (move) begin
        word <= mem[read_address];
        out_data <= word;
      end
    always_ff @(posedge clk)
      if (rst) begin
        word_valid <= 1'b0;
        out_valid  <= 1'b0;
      end else if (move) begin
        word_valid <= pull;
        out_valid  <= word_valid;
      end
  end else begin : g_lut
    (* ram_style = "distributed" *) logic [W-1:0] mem[0:DEPTH-1];
    always_ff @(posedge clk) if (push) mem[write_address] <= in_data;
    always_ff @(posedge clk) if (pull) out_data <= mem[read_address];
    always_ff @(posedge clk)
      if (rst) out_valid <= 1'b0;
      else if (move) out_valid <= pull;
  end
endmodule
