// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite registers of 32 bits. Addresses in bytes; a write takes whole words, others are ignored:
//   0x00 read: "MASE", low byte first          0x04 read: version of this map, 1
//   0x08 read: DESIGN, which design this is
//   0x0c read: bit i: input i had a TLAST inside a frame or an element without TKEEP (inputs from 31 on: bit
//        31); writing 1 to a bit clears it
//   0x10 bit 0: resets everything but these registers for as long as it is 1; clears the counters
//   0x14 frames between two TLAST of the outputs, 1 after a reset; writing begins to count anew
//   0x18 read: frames that came in             0x1c read: frames that went out
//   0x20 read: cycles, low half; keeps the high half for 0x24
`ifdef MASE_RELOAD
//   0x28 place of the next word of the weights, see mase_reload_memory
//   0x2c write: that word, while bit 0 of 0x10 is 1; the place goes on by one. At other times it is left out
//   0x30 read: bit 31: a word was left out since 0x28 was written; the rest: frames that are in the design
//   0x34 which weights: what the host wrote there; all ones after a word at 0x2c, 0 in a new bitstream. A reset
//        leaves them as they are, and this
`endif
module mase_axi_control #(
    parameter int INPUTS = 1,
    parameter logic [31:0] DESIGN = 32'd0
) (
    input  logic              clk,
    input  logic              rst,
    input  logic              s_axi_awvalid,
    output logic              s_axi_awready,
    input  logic [       5:0] s_axi_awaddr,
    input  logic              s_axi_wvalid,
    output logic              s_axi_wready,
    input  logic [      31:0] s_axi_wdata,
    input  logic [       3:0] s_axi_wstrb,
    output logic              s_axi_bvalid,
    input  logic              s_axi_bready,
    output logic [       1:0] s_axi_bresp,
    input  logic              s_axi_arvalid,
    output logic              s_axi_arready,
    input  logic [       5:0] s_axi_araddr,
    output logic              s_axi_rvalid,
    input  logic              s_axi_rready,
    output logic [      31:0] s_axi_rdata,
    output logic [       1:0] s_axi_rresp,
    input  logic [INPUTS-1:0] errors,
    input  logic              frame_in,
    input  logic              frame_out,
    output logic              error,
    output logic              core_rst,
    output logic [      31:0] frames,
`ifdef MASE_RELOAD
    output logic [      56:0] reload,
`endif
    output logic              restart
);
  localparam logic [3:0] STATUS = 4'd3, CONTROL = 4'd4, TRANSFER = 4'd5;

  // Both address and data are there before either is taken; addresses inside a word have no reader.
  logic write, read, whole, held;
  assign s_axi_awready = write;
  assign s_axi_wready = write;
  assign s_axi_arready = read;
  assign s_axi_bresp = 2'b00;
  assign s_axi_rresp = 2'b00;
  assign whole = write && &s_axi_wstrb;
  logic unused_address;
  assign unused_address = &{1'b0, s_axi_awaddr[1:0], s_axi_araddr[1:0]};

  always_ff @(posedge clk) begin
    write <= !rst && s_axi_awvalid && s_axi_wvalid && !write && !s_axi_bvalid;
    read  <= !rst && s_axi_arvalid && !read && !s_axi_rvalid;
    if (rst) s_axi_bvalid <= 1'b0;
    else s_axi_bvalid <= write || (s_axi_bvalid && !s_axi_bready);
    if (rst) s_axi_rvalid <= 1'b0;
    else s_axi_rvalid <= read || (s_axi_rvalid && !s_axi_rready);
  end

  logic [31:0] status, cleared;
  assign error = |status;
  assign cleared = (whole && s_axi_awaddr[5:2] == STATUS) ? s_axi_wdata : '0;
  assign core_rst = rst || held;
  always_ff @(posedge clk) begin
    if (rst) begin
      status <= '0;
      held <= 1'b0;
      frames <= 32'd1;
    end else begin
      status <= (status & ~cleared) | {|(errors >> 31), 31'(errors)};
      if (whole && s_axi_awaddr[5:2] == CONTROL) held <= s_axi_wdata[0];
      if (whole && s_axi_awaddr[5:2] == TRANSFER) frames <= s_axi_wdata;
    end
    restart <= whole && s_axi_awaddr[5:2] == TRANSFER;
  end

  logic [31:0] count_in, count_out, high;
  logic [63:0] cycles;
  always_ff @(posedge clk) begin
    if (core_rst) begin
      count_in <= '0;
      count_out <= '0;
      cycles <= '0;
    end else begin
      count_in <= count_in + 32'(frame_in);
      count_out <= count_out + 32'(frame_out);
      cycles <= cycles + 1'b1;
    end
  end

`ifdef MASE_RELOAD
  // Memories take a word in the two cycles after `sent`; the next one comes three cycles after it at the earliest.
  localparam logic [3:0] PLACE = 4'd10, WORD = 4'd11, INSIDE = 4'd12, WEIGHTS = 4'd13;
  logic [23:0] place;
  logic [31:0] word, weights;
  logic offered, placed, sent, taken, lost;
  assign offered = whole && s_axi_awaddr[5:2] == WORD;
  assign placed = whole && s_axi_awaddr[5:2] == PLACE;
  assign reload = {sent, place, word};
  initial weights = '0;
  always_ff @(posedge clk) begin
    sent  <= offered && held && !rst;
    taken <= sent;
    if (offered) word <= s_axi_wdata;
    if (placed) place <= s_axi_wdata[23:0];
    else if (taken) place <= place + 1'b1;
    lost <= !rst && !placed && (lost || (offered && !held));
    if (offered && held) weights <= '1;
    else if (whole && s_axi_awaddr[5:2] == WEIGHTS) weights <= s_axi_wdata;
  end

`endif
  always_ff @(posedge clk) begin
    if (read) begin
      if (s_axi_araddr[5:2] == 4'd8) high <= cycles[63:32];
      case (s_axi_araddr[5:2])
        4'd0: s_axi_rdata <= 32'h4553_414d;
        4'd1: s_axi_rdata <= 32'd1;
        4'd2: s_axi_rdata <= DESIGN;
        STATUS: s_axi_rdata <= status;
        CONTROL: s_axi_rdata <= 32'(held);
        TRANSFER: s_axi_rdata <= frames;
        4'd6: s_axi_rdata <= count_in;
        4'd7: s_axi_rdata <= count_out;
        4'd8: s_axi_rdata <= cycles[31:0];
        4'd9: s_axi_rdata <= high;
`ifdef MASE_RELOAD
        PLACE: s_axi_rdata <= 32'(place);
        INSIDE: s_axi_rdata <= {lost, 31'(count_in - count_out)};
        WEIGHTS: s_axi_rdata <= weights;
`endif
        default: s_axi_rdata <= '0;
      endcase
    end
  end
endmodule
