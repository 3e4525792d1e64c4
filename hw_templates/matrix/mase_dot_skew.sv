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

  // Stage s of a chain keeps the lanes that are more than s cycles late, all but its first ones in one register:
  // wide registers cost simulators less.
  localparam int PAIRS = (SIMD < 8) ? (SIMD + 1) / 2 : 4;
  for (genvar c = 0; c < SIMD; c = c + 8) begin : g_chain
    localparam int LANES = (SIMD - c < 8) ? SIMD - c : 8;
    localparam int FIRST = PAIRS - (LANES + 1) / 2;  // cycles that the first pair is late
    localparam int STAGES = FIRST + (LANES - 1) / 2;
    localparam int DIRECT = (FIRST > 0) ? 0 : (LANES < 2) ? LANES : 2;
    if (DIRECT > 0) begin : g_direct
      assign out[c*W+:DIRECT*W] = in[c*W+:DIRECT*W];
    end
    for (genvar s = 0; s < STAGES; s++) begin : g_stage
      localparam int FROM = (s < FIRST) ? 0 : 2 * (s + 1 - FIRST);
      localparam int LEFT = LANES - FROM;
      localparam int PAIR = (LEFT < 2) ? LEFT : 2;
      localparam int DONE = (s + 1 < FIRST) ? 0 : PAIR;  // lanes that are late enough behind this stage
      logic [LEFT*W-1:0] previous;
      if (s == 0) begin : g_in
        assign previous = in[(c+FROM)*W+:LEFT*W];
      end else begin : g_before
        assign previous = g_stage[s-1].g_waiting.kept;
      end
      if (DONE > 0) begin : g_done
        mase_operands #(
            .W(DONE * W),
            .SHARED(((s == 0 && SHARED == 2) || (s == 2 && SHARED != 0)) ? 1 : 0)
        ) register (
            .clk,
            .rst,
            .enable,
            .in(previous[DONE*W-1:0]),
            .out(out[(c+FROM)*W+:DONE*W])
        );
      end
      if (DONE < LEFT) begin : g_waiting
        logic [(LEFT-DONE)*W-1:0] kept;
        mase_operands #(
            .W((LEFT - DONE) * W),
            .SHARED((s == 0 || (s == 2 && SHARED != 0)) ? 1 : 0)
        ) register (
            .clk,
            .rst,
            .enable,
            .in(previous[LEFT*W-1:DONE*W]),
            .out(kept)
        );
      end
    end
  end

endmodule
