// SPDX-License-Identifier: Apache-2.0
// argmax gives, for each row of N beats, the place of its first largest element, in order and one at a time.
module argmax_proof #(
    parameter int N = 2,
    parameter int LANES = 2,
    parameter int IW = 2,
    parameter int ISIGNED = 1,
    parameter int OW = 2
) (
    input logic clk,
    input logic in_valid,
    input logic [LANES*IW-1:0] in_data,
    input logic out_ready
);
  localparam int STAGES = $clog2(LANES) + 1;  // registers in front of the skid, a row each at most
  logic rst, in_ready, out_valid;
  logic [OW-1:0] out_data;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_argmax #(
      .N(N),
      .LANES(LANES),
      .IW(IW),
      .ISIGNED(ISIGNED),
      .OW(OW)
  ) dut (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(in_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );

  // The definition, element by element: a later one has to be larger.
  logic [7:0] beat;
  logic [IW-1:0] held_value, value, element;
  logic [OW-1:0] held_place, place;
  logic larger;
  always_comb begin
    value = held_value;
    place = held_place;
    for (int i = 0; i < LANES; i++) begin
      element = in_data[i*IW+:IW];
      larger  = ISIGNED != 0 ? $signed(element) > $signed(value) : element > value;
      if (larger || (beat == '0 && i == 0)) begin
        value = element;
        place = OW'(beat) * OW'(LANES) + OW'(i);
      end
    end
  end
  wire row_ends = beat == 8'(N - 1);
  always_ff @(posedge clk)
    if (rst) beat <= '0;
    else if (in_valid && in_ready) begin
      beat <= row_ends ? '0 : beat + 8'd1;
      held_value <= value;
      held_place <= place;
    end

  queue_properties #(
      .W(OW),
      .CAPACITY(STAGES + 2),
      .FULL(2),
      .LATENCY(STAGES)
  ) properties (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid && row_ends),
      .in_ready(in_ready),
      .in_data(place),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
