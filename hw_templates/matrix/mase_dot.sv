// SPDX-License-Identifier: Apache-2.0
// mase_dot: sum + carry = sum over lanes of x[i] * w[i], modulo 2^W and sign extended, for operands of
// any signedness. Booth rows (MULTIPLIER = 2) have a register for the rows and TREE for the additions between
// operands and sum, with L = ceil(log2(SIMD)) 1 for L <= 2 and 2 + ceil((L - 3) / 2) above. The tool's multipliers
// have registers for operands and products; TREE is ceil(SIMD / 2), at most 4, and 1 for each level of the tree over
// chains of eight lanes. There the operands of a lane come with those of its pair, the pairs of a chain one enabled
// cycle after another, and all chains end together: mase_dot_skew makes this. PRODUCT_STAGES more registers follow the
// tool's multipliers.
//
// With MULTIPLIER = 2 an operand may be a short code (see mase_float_parts) with AFLOAT or WFLOAT bits of mantissa; -1 says that it is
// a number. AZERO, WZERO: whether codes have zero, AN, WN: bits of their numbers. Then mase_dot_float (mase_dot_binary for two
// operands of one bit that are 1 or -1) has TERM_STAGES registers in front of the rows and one less behind them.
module mase_dot #(
    parameter int SIMD = 8,
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int WW = 6,
    parameter int WSIGNED = 1,
    parameter int W = 17,
    parameter int MULTIPLIER = 0,
    parameter int PRODUCT_STAGES = 0,
    parameter int AFLOAT = -1,
    parameter int AZERO = 1,
    parameter int AN = 8,
    parameter int WFLOAT = -1,
    parameter int WZERO = 1,
    parameter int WN = 8,
    parameter int TERM_STAGES = 0
) (
    input  logic               clk,
    input  logic               enable,
    input  logic [SIMD*AW-1:0] x,
    input  logic [SIMD*WW-1:0] w,
    output logic [W-1:0]       sum,
    output logic               carry
);

  localparam int CODED = (AFLOAT >= 0 || WFLOAT >= 0) ? 1 : 0;
  localparam int AX = AW + ((ASIGNED != 0 || AFLOAT >= 0) ? 0 : 1);
  localparam int WX = WW + ((WSIGNED != 0 || WFLOAT >= 0) ? 0 : 1);

  logic [SIMD*AX-1:0] a;
  logic [SIMD*WX-1:0] b;
  for (genvar i = 0; i < SIMD; i++) begin : g_lane
    if (AX == AW) begin : g_signed
      assign a[i*AX+:AX] = x[i*AW+:AW];
    end else begin : g_unsigned
      assign a[i*AX+:AX] = {1'b0, x[i*AW+:AW]};
    end
    if (WX == WW) begin : g_weight_signed
      assign b[i*WX+:WX] = w[i*WW+:WW];
    end else begin : g_weight_unsigned
      assign b[i*WX+:WX] = {1'b0, w[i*WW+:WW]};
    end
  end

  // Bits of the exact sum. Only the product of the two least codes needs the last of them when both
  // operands are signed; an unsigned operand's zero bit saves it.
  localparam int EXACT = AX + WX + $clog2(SIMD);
  localparam int LEAST = (AX > WX) ? AX : WX;  // what the modules below can work with
  localparam int SW = (CODED != 0) ? W : (EXACT < W) ? EXACT : (LEAST < W) ? W : LEAST;
  logic [SW-1:0] exact;

  // The digits come from the operand that gives fewer row bits.
  localparam int DIGITS_OF_W = ((WX + 1) / 2) * (AX + 2);
  localparam int DIGITS_OF_X = ((AX + 1) / 2) * (WX + 2);

  localparam int ABINARY = (AFLOAT >= 0 && AZERO == 0 && ASIGNED != 0 && AW == 1) ? 1 : 0;
  localparam int WBINARY = (WFLOAT >= 0 && WZERO == 0 && WSIGNED != 0 && WW == 1) ? 1 : 0;

  if (ABINARY != 0 && WBINARY != 0) begin : g_binary
    mase_dot_binary #(
        .SIMD(SIMD),
        .STAGES(TERM_STAGES),
        .W(SW)
    ) signs (
        .clk,
        .enable,
        .a,
        .b,
        .sum(exact),
        .carry
    );
  end else if (WFLOAT >= 0) begin : g_float_w
    mase_dot_float #(
        .SIMD(SIMD),
        .AW(AX),
        .ASIGNED(ASIGNED),
        .AFLOAT(AFLOAT),
        .AZERO(AZERO),
        .AN(AN),
        .BW(WX),
        .BSIGNED(WSIGNED),
        .BFLOAT(WFLOAT),
        .BZERO(WZERO),
        .BN(WN),
        .STAGES(TERM_STAGES),
        .W(SW)
    ) terms (
        .clk,
        .enable,
        .a,
        .b,
        .sum(exact),
        .carry
    );
  end else if (AFLOAT >= 0) begin : g_float_x
    mase_dot_float #(
        .SIMD(SIMD),
        .AW(WX),
        .AFLOAT(-1),
        .BW(AX),
        .BSIGNED(ASIGNED),
        .BFLOAT(AFLOAT),
        .BZERO(AZERO),
        .BN(AN),
        .STAGES(TERM_STAGES),
        .W(SW)
    ) terms (
        .clk,
        .enable,
        .a(b),
        .b(a),
        .sum(exact),
        .carry
    );
  end else if (MULTIPLIER == 2 && DIGITS_OF_W <= DIGITS_OF_X) begin : g_booth_w
    mase_dot_booth #(
        .SIMD(SIMD),
        .AW(AX),
        .BW(WX),
        .W(SW)
    ) rows (
        .clk,
        .enable,
        .a,
        .b,
        .sum(exact),
        .carry
    );
  end else if (MULTIPLIER == 2) begin : g_booth_x
    mase_dot_booth #(
        .SIMD(SIMD),
        .AW(WX),
        .BW(AX),
        .W(SW)
    ) rows (
        .clk,
        .enable,
        .a(b),
        .b(a),
        .sum(exact),
        .carry
    );
  end else begin : g_multiply
    mase_dot_multiply #(
        .SIMD(SIMD),
        .AW(AX),
        .BW(WX),
        .W(SW),
        .DSP(MULTIPLIER),
        .PRODUCT_STAGES(PRODUCT_STAGES)
    ) products (
        .clk,
        .enable,
        .a,
        .b,
        .sum(exact)
    );
    assign carry = 1'b0;
  end

  if (SW <= W) begin : g_extend
    assign sum = W'($signed(exact));
  end else begin : g_cut
    logic [SW-W-1:0] unused_bits;
    assign sum = exact[W-1:0];
    assign unused_bits = exact[SW-1:W];
  end

endmodule
