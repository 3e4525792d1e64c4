// SPDX-License-Identifier: Apache-2.0
// mase_float_row: sum_out = sum_in + term - negative + one_in, modulo 2^W, for a term that mase_float_term has made: `low`, a
// signed number, shifted by STEP more where `last` says so, and by OFFSET to the right; negated where it is negative.
//
// A bit of the row is one function of the running sum, the two bits of `low` that the last shift chooses from, what chooses,
// and the sign: one LUT6 in front of the carry chain. Inverting a term instead of negating it lacks 1, which is left
// to whoever has a carry input free; `one_in` is this row's, as in mase_booth_row.
module mase_float_row #(
    parameter int LW = 23,
    parameter int STEP = 16,  // 0: no shift is left
    parameter int OFFSET = 2,
    parameter int TERM = 37,  // bits of the term
    parameter int W = 40
) (
    input  logic [LW-1:0] low,
    input  logic          last,
    input  logic          negative,
    input  logic [ W-1:0] sum_in,
    input  logic          one_in,
    output logic [ W-1:0] sum_out
);

  localparam int FW = TERM + OFFSET;
  logic [FW-1:0] whole, shifted;
  logic [TERM-1:0] cut;
  logic [W-1:0] term;

  assign whole   = FW'($signed(low));
  assign shifted = (STEP != 0 && last) ? whole << STEP : whole;
  assign cut     = TERM'(shifted >> OFFSET);
  assign term    = W'($signed(cut)) ^ {W{negative}};
  assign sum_out = W'(({sum_in, one_in} - {~term, 1'b1}) >> 1);

endmodule
