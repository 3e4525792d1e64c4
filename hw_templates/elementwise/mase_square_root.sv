// SPDX-License-Identifier: Apache-2.0
// The whole part of the square root of (x << SHIFT) + ADDEND for x without sign, by restoring digits: a bit of QW a
// stage, from the next two bits of the radicand. Latency QW + 2: radicand, QW bits, skid.
module mase_square_root #(
    parameter int LANES = 1,
    parameter int IW = 8,
    parameter int SHIFT = 0,
    parameter logic [63:0] ADDEND = 64'd0,
    parameter int QW = 4  // of the largest root
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                in_valid,
    output logic                in_ready,
    input  logic [LANES*IW-1:0] in_data,
    output logic                out_valid,
    input  logic                out_ready,
    output logic [LANES*QW-1:0] out_data
);
  localparam int RW = 2 * QW;  // of the radicand
  logic [QW:0] valid;
  always_ff @(posedge clk)
    if (rst) valid <= '0;
    else if (in_ready) valid <= {valid[QW-1:0], in_valid};

  logic [LANES*QW-1:0] result;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
    logic [RW-1:0] radicand;
    always_ff @(posedge clk)
      if (in_ready)
        radicand <= (RW'(in_data[i*IW+:IW]) << SHIFT) + RW'(ADDEND);

    // Stage k has k bits of the root behind a zero, a remainder of at most twice the root, and the bits that are left.
    for (genvar k = 0; k < QW; k++) begin : g_digit
      localparam int LEFT = RW - 2 * k;
      logic [k:0] root, remainder;
      logic [LEFT-1:0] rest;
      if (k == 0) begin : g_first
        assign root = '0;
        assign remainder = '0;
        assign rest = radicand;
      end else begin : g_later
        always_ff @(posedge clk) if (in_ready) rest <= g_digit[k-1].rest[LEFT-1:0];
        assign root = g_digit[k-1].next_root;
        assign remainder = g_digit[k-1].next_remainder;
      end
      logic [k+2:0] taken;
      logic [k+3:0] difference;
      assign taken = {remainder, rest[LEFT-1-:2]};
      assign difference = {1'b0, taken} - {1'b0, (k + 1)'(root), 2'b01};
      logic [k+1:0] next_root, next_remainder;
      always_ff @(posedge clk)
        if (in_ready) begin
          next_root <= {root, !difference[k+3]};
          next_remainder <= difference[k+3] ? taken[k+1:0] : difference[k+1:0];
        end
      logic unused_bit;
      assign unused_bit = ^{difference[k+2], taken[k+2]};
    end
    assign result[i*QW+:QW] = g_digit[QW-1].next_root[QW-1:0];
    logic unused_end;
    assign unused_end = ^{g_digit[QW-1].next_root[QW], g_digit[QW-1].next_remainder};
  end

  mase_skid #(
      .W(LANES * QW)
  ) buffer (
      .clk,
      .rst,
      .in_valid(valid[QW]),
      .in_ready,
      .in_data(result),
      .out_valid,
      .out_ready,
      .out_data
  );
endmodule
