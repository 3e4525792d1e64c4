// SPDX-License-Identifier: Apache-2.0
// mase_multiply: product = a * b modulo 2^W, combinational. MULTIPLIER 0: what the tool infers; 1: a
// DSP block; 2: rows of Booth digits of b in LUTs and carry chains (mase_booth_row).
module mase_multiply #(
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int BW = 8,
    parameter int BSIGNED = 1,
    parameter int MULTIPLIER = 0,
    parameter int W = AW + BW + ((ASIGNED == 0 && BSIGNED == 0) ? 1 : 0)
) (
    input  logic [AW-1:0] a,
    input  logic [BW-1:0] b,
    output logic [W-1:0]  product  // signed
);

  localparam int AX = AW + ((ASIGNED != 0) ? 0 : 1);
  localparam int BX = BW + ((BSIGNED != 0) ? 0 : 1);
  logic [AX-1:0] a_signed;
  logic [BX-1:0] b_signed;
  if (ASIGNED != 0) begin : g_a_signed
    assign a_signed = a;
  end else begin : g_a_unsigned
    assign a_signed = {1'b0, a};
  end
  if (BSIGNED != 0) begin : g_b_signed
    assign b_signed = b;
  end else begin : g_b_unsigned
    assign b_signed = {1'b0, b};
  end

  // Whole operands: the tool chooses its multiplier by their widths.
  localparam int PW = (AX + BX > W) ? AX + BX : W;
  if (MULTIPLIER == 1) begin : g_dsp
    (* use_dsp = "yes" *) logic [W-1:0] low;
    assign low = W'(PW'($signed(a_signed)) * PW'($signed(b_signed)));
    assign product = low;
  end else if (MULTIPLIER == 0) begin : g_any
    assign product = W'(PW'($signed(a_signed)) * PW'($signed(b_signed)));
  end else begin : g_booth
    // Row k adds to what is left above the two low bits of row k - 1, and takes its own one.
    localparam int K = (BX + 1) / 2;
    localparam int RW = AX + 2;
    for (genvar k = 0; k < K; k++) begin : g_booth_row
      localparam int HIGH = (2 * k + 1 < BX) ? 2 * k + 1 : BX - 1;
      logic [RW-1:0] from, to;
      logic [2:0] digit;
      logic [2*k+1:0] low;  // what no later row changes
      if (k == 0) begin : g_lowest
        assign digit = {b_signed[HIGH], b_signed[0], 1'b0};
        assign from  = '0;
        assign low   = to[1:0];
      end else begin : g_other
        assign digit = {b_signed[HIGH], b_signed[2*k], b_signed[2*k-1]};
        assign from  = RW'($signed(g_booth_row[k-1].to[RW-1:2]));
        assign low   = {to[1:0], g_booth_row[k-1].low};
      end
      mase_booth_row #(
          .AW(AX),
          .W(RW)
      ) row (
          .a(a_signed),
          .digit,
          .sum_in(from),
          .one_in(digit[2]),
          .sum_out(to)
      );
    end
    assign product = W'($signed({g_booth_row[K-1].to[RW-1:2], g_booth_row[K-1].low}));
  end

endmodule
