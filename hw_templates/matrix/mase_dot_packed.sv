// SPDX-License-Identifier: Apache-2.0
// mase_dot_packed: sum[f] + carry[f] = sum over lanes of x[i] * w[f][i], modulo 2^W and sign extended, for COUNT outputs
// that share their x: every multiplier takes the weights of all of them, PITCH bits apart (mase_pack), so that its
// products add up in fields of one number.
//
// A field is the sum of its products plus what the fields below it carry over: floor(below / 2^PITCH), -1 or 0 where
// their sums fit PITCH bits. The accumulators take it off again as their carry. Where they do not fit, each is known
// modulo 2^KNOWN from the low bits of its operands, and the difference to the bits in the field above is what was carried
// over, a signed number of KNOWN bits. If it has more than one bit, it is taken off here, with a register behind it.
// PITCH + KNOWN bits hold every lower field, with what it takes over. Otherwise as mase_dot with MULTIPLIER below 2.
module mase_dot_packed #(
    parameter int SIMD = 8,
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int WW = 8,
    parameter int WSIGNED = 1,
    parameter int W = 20,
    parameter int COUNT = 2,
    parameter int PITCH = 16,
    parameter int KNOWN = 3,
    parameter int DSP = 0,
    parameter int PRODUCT_STAGES = 0
) (
    input  logic                     clk,
    input  logic                     enable,
    input  logic [SIMD*AW-1:0]       x,
    input  logic [COUNT*SIMD*WW-1:0] w,
    output logic [COUNT*W-1:0]       sum,
    output logic [COUNT-1:0]         carry
);

  localparam int AX = AW + ((ASIGNED != 0) ? 0 : 1);
  localparam int WX = WW + ((WSIGNED != 0) ? 0 : 1);
  localparam int EXACT = AX + WX + $clog2(SIMD);  // bits of one output's sum
  localparam int LEAST = (AX > WX) ? AX : WX;
  localparam int TOP = (EXACT < W) ? EXACT : (LEAST < W) ? W : LEAST;
  localparam int TW = (COUNT - 1) * PITCH + TOP;

  logic [SIMD*AX-1:0] a;
  logic [SIMD*COUNT*WX-1:0] b;  // in the order (lane, output)
  for (genvar i = 0; i < SIMD; i++) begin : g_lane
    if (ASIGNED != 0) begin : g_signed
      assign a[i*AX+:AX] = x[i*AW+:AW];
    end else begin : g_unsigned
      assign a[i*AX+:AX] = {1'b0, x[i*AW+:AW]};
    end
    for (genvar f = 0; f < COUNT; f++) begin : g_weight
      if (WSIGNED != 0) begin : g_weight_signed
        assign b[(i*COUNT+f)*WX+:WX] = w[(f*SIMD+i)*WW+:WW];
      end else begin : g_weight_unsigned
        assign b[(i*COUNT+f)*WX+:WX] = {1'b0, w[(f*SIMD+i)*WW+:WW]};
      end
    end
  end

  logic [TW-1:0] total;
  mase_dot_multiply #(
      .SIMD(SIMD),
      .AW(AX),
      .BW(WX),
      .W(TW),
      .DSP(DSP),
      .COUNT(COUNT),
      .PITCH(PITCH),
      .PRODUCT_STAGES(PRODUCT_STAGES)
  ) products (
      .clk,
      .enable,
      .a,
      .b,
      .sum(total)
  );

  // What the fields below carry over into each, in signed numbers of OVER bits.
  localparam int OVER = (KNOWN > 1) ? KNOWN : 1;
  logic [COUNT*OVER-1:0] over;
  assign over[OVER-1:0] = '0;
  for (genvar f = 0; f < COUNT; f++) begin : g_field
    localparam int FW = (f < COUNT - 1) ? PITCH + KNOWN : TOP;
    logic [FW-1:0] field;
    if (f == COUNT - 1) begin : g_top
      assign field = total[f*PITCH+:FW];
    end else if (KNOWN == 0) begin : g_narrow
      assign field = total[f*PITCH+:FW];
      assign over[(f+1)*OVER+:OVER] = field[FW-1];
    end else begin : g_wide
      logic [SIMD*KNOWN-1:0] low_a, low_b;
      logic [KNOWN-1:0] above;
      for (genvar i = 0; i < SIMD; i++) begin : g_low
        assign low_a[i*KNOWN+:KNOWN] = KNOWN'($signed(a[i*AX+:AX]));
        assign low_b[i*KNOWN+:KNOWN] = KNOWN'($signed(b[(i*COUNT+f+1)*WX+:WX]));
      end
      mase_dot_multiply #(
          .SIMD(SIMD),
          .AW(KNOWN),
          .BW(KNOWN),
          .W(KNOWN),
          .PRODUCT_STAGES(PRODUCT_STAGES)
      ) known (
          .clk,
          .enable,
          .a(low_a),
          .b(low_b),
          .sum(above)
      );
      assign over[(f+1)*OVER+:OVER] = total[(f+1)*PITCH+:KNOWN] - above;
      assign field = {over[(f+1)*OVER+:OVER], total[f*PITCH+:PITCH]};
    end
    logic [W-1:0] value;
    if (FW <= W) begin : g_extend
      assign value = W'($signed(field));
    end else begin : g_cut
      logic [FW-W-1:0] unused_bits;
      assign value = field[W-1:0];
      assign unused_bits = field[FW-1:W];
    end
    if (KNOWN > 1) begin : g_subtract
      always_ff @(posedge clk) if (enable) sum[f*W+:W] <= value - W'($signed(over[f*OVER+:OVER]));
      assign carry[f] = 1'b0;
    end else begin : g_carry
      assign sum[f*W+:W] = value;
      assign carry[f] = over[f];
    end
  end

endmodule
