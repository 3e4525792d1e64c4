// SPDX-License-Identifier: Apache-2.0
// Any function of one element as a table of 2^IW words of OW bits, one copy per lane, indexed by the
// element's bits. Latency 3: words as memories give them, late in the cycle, then a register.
module mase_lookup #(
    parameter int LANES = 1,
    parameter int IW = 8,
    parameter int OW = 8,
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
  // Tables of half an 18 kbit block and more go to block memory.
  localparam int BLOCK = ((1 << IW) * OW >= 8192) ? 1 : 0;

  logic [1:0] valid;
  logic [LANES*OW-1:0] words, result;
  always_ff @(posedge clk) begin
    if (rst) valid <= '0;
    else if (in_ready) valid <= {valid[0], in_valid};
  end
  always_ff @(posedge clk) if (in_ready) result <= words;

  for (genvar i = 0; i < LANES; i++) begin : g_lane
    mase_rom #(
        .W(OW),
        .DEPTH(1 << IW),
        .FILE(FILE),
        .BLOCK(BLOCK)
    ) table_rom (
        .clk(clk),
        .enable(in_ready),
        .address(in_data[i*IW+:IW]),
        .data(words[i*OW+:OW])
    );
  end

  mase_skid #(
      .W(LANES * OW)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(valid[1]),
      .in_ready(in_ready),
      .in_data(result),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
