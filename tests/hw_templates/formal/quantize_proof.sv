// SPDX-License-Identifier: Apache-2.0
// An element becomes the level that counting the thresholds of its channel which it reaches says, in order and one at a
// time. Thresholds are any numbers that ascend: they follow from a parameter.
module quantize_proof #(
    parameter int IW = 4,
    parameter int ISIGNED = 1,
    parameter int OW = 3,
    parameter int COUNT = 5,
    parameter int CHANNELS = 1,
    parameter logic [CHANNELS*COUNT*(IW+1)-1:0] THRESHOLDS = 25'h1dde292,
    parameter logic [(COUNT+1)*OW-1:0] LEVELS = 18'o643210
) (
    input logic clk,
    input logic in_valid,
    input logic [IW-1:0] in_data,
    input logic out_ready
);
  localparam int STAGES = $clog2(COUNT + 1) + ((CHANNELS > 1) ? 1 : 0);
  logic rst, in_ready, out_valid;
  logic [OW-1:0] out_data, level;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_quantize #(
      .IW(IW),
      .ISIGNED(ISIGNED),
      .OW(OW),
      .COUNT(COUNT),
      .CHANNELS(CHANNELS),
      .THRESHOLDS(THRESHOLDS),
      .LEVELS(LEVELS)
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
  // As whole numbers: an element, and a threshold whose sign is turned over.
  localparam int OFFSET = (ISIGNED != 0) ? 1 << (IW - 1) : 0;
  logic signed [IW+1:0] element;
  assign element = (ISIGNED != 0) ? (IW + 2)'($signed(in_data)) : $signed({2'b0, in_data});
  // The channel of the next element.
  int channel;
  always_ff @(posedge clk)
    if (rst) channel <= 0;
    else if (in_valid && in_ready) channel <= (channel == CHANNELS - 1) ? 0 : channel + 1;
  logic [COUNT*(IW+1)-1:0] words;
  assign words = THRESHOLDS[channel*COUNT*(IW+1)+:COUNT*(IW+1)];
  always_comb begin
    level = LEVELS[0+:OW];
    for (int n = 1; n <= COUNT; n++)
    if (words[(n-1)*(IW+1)+IW] && 32'(element) >= $signed(32'(words[(n-1)*(IW+1)+:IW])) - OFFSET)
      level = LEVELS[n*OW+:OW];
  end
  queue_properties #(
      .W(OW),
      .CAPACITY(STAGES + 4),
      .FULL(2),
      .LATENCY(STAGES + 2)
  ) properties (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(level),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
