// SPDX-License-Identifier: Apache-2.0
// mase_dot_skew: operands of SIMD lanes, each as many enabled cycles late as mase_dot wants them from the
// tool's multipliers. For more than two lanes: those of one pair are all in time.
//
// A tool makes three registers in a row a shift register in LUTs, which are scarcer here, unless they have
// a reset; a DSP block takes the last two that it alone reads, unless they have one. So some have.
module mase_dot_skew #(
    parameter int SIMD = 8,
    parameter int W = 8,
    parameter int SHARED = 0  // 1: several dot products read the same operands, 2: mase_dot_packed does
) (
    input  logic              clk,
    input  logic              rst,
    input  logic              enable,
    input  logic [SIMD*W-1:0] in,
    output logic [SIMD*W-1:0] out
);

  logic unused_rst;  // four lanes and fewer may have no reset
  assign unused_rst = rst;

  localparam int PAIRS = (SIMD < 8) ? (SIMD + 1) / 2 : 4;
  for (genvar i = 0; i < SIMD; i++) begin : g_lane
    localparam int CHAIN = (SIMD - i / 8 * 8 < 8) ? SIMD - i / 8 * 8 : 8;  // lanes of its chain
    localparam int LATE = PAIRS - (CHAIN + 1) / 2 + i % 8 / 2;
    if (LATE == 0) begin : g_now
      assign out[i*W+:W] = in[i*W+:W];
    end else begin : g_late
      for (genvar r = 0; r < LATE; r++) begin : g_register
        logic [W-1:0] previous, kept;
        if (r == 0) begin : g_first
          assign previous = in[i*W+:W];
        end else begin : g_next
          assign previous = g_register[r-1].kept;
        end
        if ((r == 0 && (LATE > 1 || SHARED == 2)) || (r == 2 && SHARED != 0)) begin : g_reset
          always_ff @(posedge clk)
            if (rst) kept <= '0;
            else if (enable) kept <= previous;
        end else begin : g_plain
          always_ff @(posedge clk) if (enable) kept <= previous;
        end
      end
      assign out[i*W+:W] = g_register[LATE-1].kept;
    end
  end

endmodule
