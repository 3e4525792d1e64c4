// SPDX-License-Identifier: Apache-2.0
// The memory of matrices, data included: what is read while a frame is there is the word at that address of this frame,
// and it holds while nothing is read; a frame is there from the cycle after its last beat until it is done; beats are
// taken while fewer than two frames are there. Addresses are any, but for the last word in the first cycle of a frame.
//
// Only one weight is watched, any one, so that the proof keeps a bit of every frame and not the frame.
module matrix_memory_proof #(
    parameter int SF = 1,
    parameter int NF = 1,
    parameter int SETS = 1,
    parameter int SIMD = 1,
    parameter int PE = 1,
    parameter int TRANSPOSED = 0,
    parameter int INTERLEAVED = 0
) (
    input logic clk,
    input logic in_valid,
    input logic [((TRANSPOSED != 0) ? PE : SIMD)-1:0] in_data,
    input logic wants_done,
    input logic read,
    input logic [7:0] wants_address,
    input logic [7:0] wants_watched
);
  localparam int LANES = (TRANSPOSED != 0) ? PE : SIMD;
  localparam int WORDS = SETS * NF * SF;
  localparam int WB = (WORDS > 1) ? $clog2(WORDS) : 1;
  localparam int WEIGHTS = WORDS * PE * SIMD;
  localparam int OUTPUTS = NF * PE;
  localparam int INPUTS = SF * SIMD;
  localparam int BEATS = WEIGHTS / LANES;
  logic rst, in_ready, there, done;
  logic [WB-1:0] address;
  logic [PE*SIMD-1:0] data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_matrix_memory #(
      .SF(SF),
      .NF(NF),
      .SETS(SETS),
      .SIMD(SIMD),
      .PE(PE),
      .W(1),
      .TRANSPOSED(TRANSPOSED),
      .INTERLEAVED(INTERLEAVED)
  ) dut (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(in_data),
      .there(there),
      .done(done),
      .read(read),
      .address(address),
      .data(data)
  );

  // The weight that is watched: set, output and input; the beat and the lane that bring it; where it is read.
  logic [7:0] set, out, in, beat, lane, word, place;
  always_ff @(posedge clk)
    if (rst) begin
      set <= wants_watched / 8'(OUTPUTS * INPUTS) % 8'(SETS);
      out <= wants_watched / 8'(INPUTS) % 8'(OUTPUTS);
      in  <= wants_watched % 8'(INPUTS);
    end
  localparam int ROWS = (TRANSPOSED != 0) ? INPUTS : OUTPUTS;
  localparam int ROW_BEATS = BEATS / SETS / ROWS;
  wire [7:0] row = (TRANSPOSED != 0) ? in : out;
  wire [7:0] element = (TRANSPOSED != 0) ? out : in;
  wire [7:0] rows_before = (INTERLEAVED != 0) ? row * 8'(SETS) + set : set * 8'(ROWS) + row;
  assign beat  = rows_before * 8'(ROW_BEATS) + element / 8'(LANES);
  assign lane  = element % 8'(LANES);
  assign word  = (set * 8'(NF) + out / 8'(PE)) * 8'(SF) + in / 8'(SIMD);
  assign place = out % 8'(PE) * 8'(SIMD) + in % 8'(SIMD);

  // The weight that is watched, of the frames that are there, of that which comes in and of that which was read.
  logic [1:0] frames;
  logic [7:0] beats;
  logic first, second, coming, expected, known, fresh, waited, kept;
  wire taken = in_valid && in_ready;
  wire fills = taken && beats == 8'(BEATS - 1);
  wire weight = (beats == beat) ? in_data[lane] : coming;
  assign done = wants_done && there;
  wire last_word = wants_address % 8'(WORDS) == 8'(WORDS - 1);
  assign address = (fresh && WORDS > 1 && last_word) ? '0 : WB'(wants_address % 8'(WORDS));
  wire [1:0] left = frames - 2'(done);
  always_ff @(posedge clk) begin
    if (rst) begin
      frames <= 2'd0;
      beats <= '0;
      known <= 1'b0;
      fresh <= 1'b0;
      waited <= 1'b0;
    end else begin
      frames <= left + 2'(fills);
      fresh  <= fills && left == 2'd0;
      if (taken) beats <= fills ? '0 : beats + 8'd1;
      if (taken) coming <= weight;
      if (done) first <= second;
      if (fills && left == 2'd0) first <= weight;
      if (fills && left == 2'd1) second <= weight;
      if (read) known <= there && 8'(address) == word;
      if (read) expected <= first;
      waited <= !read;
    end
    kept <= data[place];
  end
  always_comb begin
    if (!rst) begin
      assert (there == (frames != 2'd0));
      assert (in_ready == (frames < 2'd2));
      if (known) assert (data[place] == expected);
      if (waited) assert (data[place] == kept);
    end
  end
endmodule
