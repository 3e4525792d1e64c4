// SPDX-License-Identifier: Apache-2.0
// row_reduce gives, for each row of N beats, the maximum, the sum or the greatest magnitude of its elements, in order and one at a time.
module row_reduce_proof #(
    parameter int N = 2,
    parameter int LANES = 2,
    parameter int IW = 2,
    parameter int ISIGNED = 1,
    parameter int OP = 0,  // 0: the maximum, 1: the sum, 2: the greatest magnitude
    parameter int OW = 3
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
  mase_row_reduce #(
      .N(N),
      .LANES(LANES),
      .IW(IW),
      .ISIGNED(ISIGNED),
      .OP(OP),
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

  // The definition, element by element. As integers of eight bits, elements keep their order and their sums.
  logic [7:0] beat;
  logic signed [7:0] held, value, element;
  always_comb begin
    value = held;
    for (int i = 0; i < LANES; i++) begin
      element = ISIGNED != 0 ? 8'($signed(in_data[i*IW+:IW])) : 8'(in_data[i*IW+:IW]);
      if (OP == 2 && element < 8'sd0) element = -element;
      if (beat == '0 && i == 0) value = element;
      else if (OP == 1) value = value + element;
      else if (element > value) value = element;
    end
  end
  wire row_ends = beat == 8'(N - 1);
  always_ff @(posedge clk)
    if (rst) beat <= '0;
    else if (in_valid && in_ready) begin
      beat <= row_ends ? '0 : beat + 8'd1;
      held <= value;
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
      .in_data(value[OW-1:0]),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
