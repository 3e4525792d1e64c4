// SPDX-License-Identifier: Apache-2.0
// A function of one wide element in straight pieces that are finer the smaller the element is: mase_piecewise behind
// what brings an element to its piece. The magnitude m has the bits of the element below its sign, turned over where it
// is negative. Its octave is the number of zeros in front of its leading one, at most 2^OB - 1. Behind the leading one
// (in the last octave: behind so many zeros) come the PB bits of the piece and the LB bits of l, as zeros beyond the
// end of m. The address of a word is {sign, octave, piece}; without a sign (SIGNED 0) it has none. Latency 9: the
// longer distances that bring the leading one to the front, the shorter ones, the address, and mase_piecewise.
module mase_octave_pieces #(
    parameter int LANES = 1,
    parameter int IW = 24,
    parameter int SIGNED = 1,
    parameter int OB = 3,
    parameter int PB = 4,
    parameter int LB = 8,
    parameter int SW = 12,
    parameter int SSIGNED = 1,
    parameter int BW = 20,
    parameter int ACCW = 20,
    parameter int OW = 8,
    parameter int SHIFT = 11,
    parameter int DIVISOR = 1,
    parameter int ROUND = 0,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127,
    parameter int MULTIPLIER = 0,
    parameter FILE = ""
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                in_valid,
    output logic                in_ready,
    input  logic [LANES*IW-1:0] in_data,
    output logic                out_valid,
    input  logic                out_ready,
    output logic [LANES*OW-1:0] out_data
);
  localparam int STAGES = 3;
  localparam int M = IW - ((SIGNED != 0) ? 1 : 0);
  localparam int AB = ((SIGNED != 0) ? 1 : 0) + OB + PB;
  localparam int FINE = (OB + 1) / 2;  // bits of the distance in the second stage
  // Bits that are left in front of each of the stages, of which some are beyond the end of m.
  localparam int PLACE = PB + LB + 1;  // the leading one, the piece and l
  localparam int MIDDLE = PLACE + (1 << FINE) - 1;
  localparam int NEEDED = PLACE + (1 << OB) - 1;
  localparam int FRONT = (NEEDED > M) ? NEEDED : M;

  logic enable;  // of all stages, those of mase_piecewise too
  logic [STAGES-1:0] valid;
  assign in_ready = enable;
  always_ff @(posedge clk) begin
    if (rst) valid <= '0;
    else if (enable) valid <= {valid[STAGES-2:0], in_valid};
  end

  logic [LANES*(AB+LB)-1:0] placed;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
    logic negative, coarse_negative, fine_negative;
    logic [M-1:0] bits;
    logic [FRONT-1:0] magnitude, coarse;
    logic [MIDDLE-1:0] coarse_kept, fine;
    logic [PLACE-1:0] fine_kept;
    logic [OB-FINE-1:0] coarse_zeros, coarse_zeros_kept;
    logic [FINE-1:0] fine_zeros;
    logic [OB-1:0] octave;
    assign negative  = (SIGNED != 0) ? in_data[i*IW+IW-1] : 1'b0;
    assign bits = in_data[i*IW+:M] ^ {M{negative}};
    assign magnitude = FRONT'(bits) << (FRONT - M);
    always_comb begin
      coarse = magnitude;
      coarse_zeros = '0;
      for (int k = OB - 1; k >= FINE; k--)
      if ((coarse >> (FRONT - (1 << k))) == '0) begin
        coarse = coarse << (1 << k);
        coarse_zeros[k-FINE] = 1'b1;
      end
    end
    always_comb begin
      fine = coarse_kept;
      fine_zeros = '0;
      for (int k = FINE - 1; k >= 0; k--)
      if ((fine >> (MIDDLE - (1 << k))) == '0) begin
        fine = fine << (1 << k);
        fine_zeros[k] = 1'b1;
      end
    end

    logic [PB+LB-1:0] place;
    assign place = (&octave) ? fine_kept[PLACE-1:1] : fine_kept[PLACE-2:0];
    always_ff @(posedge clk)
      if (enable) begin
        coarse_negative <= negative;
        coarse_zeros_kept <= coarse_zeros;
        coarse_kept <= MIDDLE'(coarse >> (FRONT - MIDDLE));
        fine_negative <= coarse_negative;
        octave <= {coarse_zeros_kept, fine_zeros};
        fine_kept <= PLACE'(fine >> (MIDDLE - PLACE));
        placed[i*(AB+LB)+:AB+LB] <= (AB + LB)'({fine_negative, octave, place});
      end
  end

  mase_piecewise #(
      .LANES(LANES),
      .IW(AB + LB),
      .LB(LB),
      .SW(SW),
      .SSIGNED(SSIGNED),
      .BW(BW),
      .ACCW(ACCW),
      .OW(OW),
      .SHIFT(SHIFT),
      .DIVISOR(DIVISOR),
      .ROUND(ROUND),
      .LOW(LOW),
      .HIGH(HIGH),
      .MULTIPLIER(MULTIPLIER),
      .FILE(FILE)
  ) pieces (
      .clk,
      .rst,
      .in_valid(valid[STAGES-1]),
      .in_ready(enable),
      .in_data(placed),
      .out_valid,
      .out_ready,
      .out_data
  );
endmodule
